"""The view of `gradfn run --watch`: what it counts, and that it is not in the way."""

import threading

import numpy as np
import pytest

import gradfn
from gradfn.autograd.backward import observers
from gradfn.autograd.where import here
from gradfn.lens import Progress, progress
from gradfn.utils.checkpoint import checkpoint


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pass is shown."""
    for name in ("LIVE_INTERVAL", "LINE_INTERVAL"):
        monkeypatch.setattr(progress, name, 0.0)
    monkeypatch.setattr(progress, "LARGEST_SHARE", np.inf)


def test_a_line_shows_loss_gradient_and_graph(capsys: pytest.CaptureFixture[str]) -> None:
    x = gradfn.tensor([3.0, 4.0], requires_grad=True)
    with Progress() as seen:
        (x.exp().log() ** 2).sum().backward()
    assert seen.count == 1
    assert seen.loss == pytest.approx(25.0)
    assert seen.norm == pytest.approx(10.0)
    assert seen.graph == (5, 16)  # two floats that exp and log share, two for the power
    out, err = capsys.readouterr()
    assert out == ""
    assert "loss 25  smoothed 25  |gradient| 10  nodes 5  memory 16 B" in err
    assert not observers


def test_the_smoothed_loss_follows_and_skips_what_is_no_number() -> None:
    x = gradfn.tensor(1.0, requires_grad=True)
    with Progress() as seen:
        for factor in (1.0, 2.0, float("nan"), float("inf")):
            (x * factor).backward()
    assert seen.smoothed == pytest.approx(0.95 + 0.05 * 2)
    assert seen.loss == float("inf")


def test_several_tensors_and_edges_have_no_loss() -> None:
    x = gradfn.ones(2, requires_grad=True)
    with Progress() as seen:
        gradfn.autograd.backward([x[0] * 2, x[1] * 3])
        (x * 2).backward(gradfn.ones(2))
        edge = gradfn.autograd.graph.get_gradient_edge(x.sum())
        gradfn.autograd.backward(edge)
    assert (seen.count, seen.loss, seen.smoothed) == (3, None, None)


def test_a_checkpoint_counts_with_its_pass() -> None:
    x = gradfn.ones(2, requires_grad=True)
    with Progress() as seen:
        checkpoint(gradfn.sin, x, use_reentrant=True).sum().backward()
    assert seen.count == 1


def test_a_failing_pass_does_not_end_the_view(capsys: pytest.CaptureFixture[str]) -> None:
    x = gradfn.tensor(2.0, requires_grad=True)
    y = x.exp()
    y.backward()
    with Progress() as seen:
        with pytest.raises(RuntimeError, match="second time"):
            y.backward()
        x.exp().backward()
    assert (seen.count, seen.graph) == (2, (2, 4))


def test_passes_of_several_threads_are_counted_together() -> None:
    def work() -> None:
        x = gradfn.ones(3, requires_grad=True)
        for _ in range(20):
            x.sum().backward()

    with Progress() as seen:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen.count == 80


def test_a_pass_that_outlasts_the_view_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    x = gradfn.ones(3, requires_grad=True)
    with Progress():
        after = observers[-1]([x.sum()], here())
    shown = capsys.readouterr().err
    assert after is not None
    after()
    assert capsys.readouterr().err == ""
    assert shown.count("gradfn: ") == 1


def test_gradients_are_what_they_are_without_it() -> None:
    def gradient() -> np.ndarray:
        gradfn.manual_seed(0)
        model = gradfn.nn.Linear(3, 2)
        model(gradfn.randn(4, 3)).square().mean().backward()
        return model.weight.grad.numpy()

    plain = gradient()
    with Progress():
        assert np.array_equal(gradient(), plain)
