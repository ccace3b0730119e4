"""Losses where samples do not reach: extreme inputs, ignored targets, warnings, old arguments."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import gradfn
from gradfn.nn import functional as F

EXTREME = [-1e4, -200.0, 0.0, 200.0, 1e4]


def leaf(values: Any) -> Any:
    return gradfn.tensor(values, dtype=gradfn.float64).requires_grad_()


def both(loss: Any, *leaves: Any) -> tuple[Any, list[Any]]:
    """The loss and its gradients, as lists."""
    grads = gradfn.autograd.grad(loss.sum(), leaves)
    return loss.tolist(), [g.tolist() for g in grads]


def test_logits_of_any_size_have_exact_losses() -> None:
    x = leaf(EXTREME)
    losses, (slopes,) = both(
        F.binary_cross_entropy_with_logits(x, gradfn.ones_like(x), reduction="none"), x
    )
    np.testing.assert_allclose(losses, [1e4, 200.0, math.log(2), 0.0, 0.0], atol=1e-80)
    np.testing.assert_allclose(slopes, [-1.0, -1.0, -0.5, 0.0, 0.0], atol=1e-80)


def test_scores_of_any_size_have_exact_cross_entropies() -> None:
    x = leaf([[1e4, -1e4], [1e4, -1e4], [1e300, -1e300]])
    losses, (slopes,) = both(F.cross_entropy(x, gradfn.tensor([0, 1, 0]), reduction="none"), x)
    assert losses == [0.0, 2e4, 0.0]
    assert slopes == [[0.0, 0.0], [1.0, -1.0], [0.0, 0.0]]


def test_bounded_logarithms_keep_binary_cross_entropy_finite() -> None:
    x = leaf([0.0, 1.0])
    losses, (slopes,) = both(
        F.binary_cross_entropy(x, gradfn.tensor([1.0, 0.0], dtype=x.dtype), reduction="none"), x
    )
    assert losses == [100.0, 100.0]
    np.testing.assert_allclose(slopes, [-1e12, 1e12], rtol=1e-8)


def test_distances_have_finite_slopes_at_zero() -> None:
    x, y = leaf([[0.0, 0.0]]), leaf([[0.0, 0.0]])
    for loss in (
        F.cosine_similarity(x, y),
        F.pairwise_distance(x, y),
        F.normalize(x),
        F.triplet_margin_loss(x, y, y),
    ):
        grads = gradfn.autograd.grad(loss.sum(), [x, y], allow_unused=True)
        assert all(g is None or gradfn.isfinite(g).all() for g in grads)


def test_ignored_targets_pass_nothing_on() -> None:
    x = leaf([[0.5, math.inf], [1.0, 2.0]])
    loss, (slopes,) = both(F.nll_loss(x, gradfn.tensor([1, 0]), ignore_index=1), x)
    assert loss == -1.0
    assert slopes == [[0.0, 0.0], [-1.0, 0.0]]
    assert math.isnan(F.nll_loss(x, gradfn.tensor([1, 1]), ignore_index=1).item())


def test_a_mean_is_over_the_weights_of_the_classes() -> None:
    x, weight = leaf([[1.0, 2.0], [3.0, 4.0]]), gradfn.tensor([1.0, 3.0], dtype=gradfn.float64)
    assert F.nll_loss(x, gradfn.tensor([0, 1]), weight).item() == -(1.0 + 3 * 4.0) / 4


def test_full_smoothing_is_the_mean_over_the_classes() -> None:
    x = leaf([[0.3, -1.0, 2.0]])
    smooth = F.cross_entropy(x, gradfn.tensor([1]), label_smoothing=1.0)
    assert smooth.item() == pytest.approx(-F.log_softmax(x, 1).mean().item())


def test_classes_and_their_probabilities_agree() -> None:
    x, classes = leaf([[0.3, -1.0, 2.0], [1.0, 0.0, 0.5]]), gradfn.tensor([2, 0])
    one_hot = F.one_hot(classes, 3).to(x.dtype)
    for smoothing in (0.0, 0.3):
        by_class = F.cross_entropy(x, classes, label_smoothing=smoothing)
        by_probability = F.cross_entropy(x, one_hot, label_smoothing=smoothing)
        assert by_class.item() == pytest.approx(by_probability.item())


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_broadcasting_is_warned_of(name: str) -> None:
    with pytest.warns(UserWarning, match=r"^Using a target size \(torch.Size\(\[2\]\)\) that is"):
        loss = getattr(F, name)(gradfn.zeros(3, 2), gradfn.ones(2), reduction="none")
    assert loss.shape == (3, 2)


@pytest.mark.parametrize(
    ("size_average", "reduce", "reduction"),
    [(None, True, "mean"), (False, None, "sum"), (False, True, "sum"), (True, False, "none")],
)
def test_old_reduction_arguments(
    size_average: bool | None, reduce: bool | None, reduction: str
) -> None:
    x, y = gradfn.tensor([1.0, 2.0]), gradfn.tensor([0.0, 5.0])
    with pytest.warns(UserWarning, match=f"please use reduction='{reduction}' instead"):
        old = F.mse_loss(x, y, size_average, reduce)
    assert old.tolist() == F.mse_loss(x, y, reduction=reduction).tolist()


def test_the_mean_of_kl_div_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="'batchmean' divides only by the batch size"):
        F.kl_div(gradfn.zeros(2), gradfn.ones(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.kl_div(gradfn.zeros(2, 1), gradfn.ones(2, 1), reduction="batchmean")


@pytest.mark.parametrize("argument", ["weight", "pos_weight"])
def test_weights_take_no_gradient(argument: str) -> None:
    x = leaf([0.5])
    with pytest.raises(
        RuntimeError, match=f"not differentiable with respect to argument '{argument}'"
    ):
        F.binary_cross_entropy_with_logits(x, x, **{argument: leaf([1.0])})


def test_embedding_scales_the_rows_it_uses_in_place() -> None:
    weight = leaf([[3.0, 4.0], [0.3, 0.4], [30.0, 40.0]])
    rows = F.embedding(gradfn.tensor([0, 1, 0]), weight, max_norm=1.0)
    np.testing.assert_allclose(weight.tolist(), [[0.6, 0.8], [0.3, 0.4], [30.0, 40.0]], rtol=1e-6)
    assert weight._version == 1
    (slopes,) = gradfn.autograd.grad(rows.sum(), [weight])
    assert slopes.tolist() == [[2.0, 2.0], [1.0, 1.0], [0.0, 0.0]]


def test_sparse_gradients_of_embedding_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="sparse gradients"):
        F.embedding(gradfn.tensor([0]), leaf([[1.0]]), sparse=True)
