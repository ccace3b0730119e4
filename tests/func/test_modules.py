"""Modules as functions: functorch's names for them, and what vmap needs of them."""

import pytest

import gradfn
from gradfn import _functorch as functorch
from gradfn import nn
from gradfn._functorch.make_functional import functional_init, functional_init_with_buffers


def test_make_functional_takes_parameters_and_buffers() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    x = gradfn.randn(4, 2)
    with pytest.raises(RuntimeError, match="Please use make_functional_with_buffers"):
        functorch.make_functional(model)
    fmodel, params, buffers = functorch.make_functional_with_buffers(model)
    assert gradfn.equal(fmodel(params, buffers, x), model(x))
    assert fmodel.param_names == tuple(dict(model.named_parameters()))
    untracked = functorch.make_functional(nn.Linear(2, 1), disable_autograd_tracking=True)[1]
    assert not any(p.requires_grad for p in untracked)


def test_an_ensemble_is_one_function() -> None:
    models = [nn.Linear(2, 3) for _ in range(4)]
    x = gradfn.randn(5, 2)
    fmodel, params, buffers = functorch.combine_state_for_ensemble(models)
    found = gradfn.func.vmap(fmodel, (0, 0, None))(params, buffers, x)
    assert gradfn.allclose(found, gradfn.stack([m(x) for m in models]), atol=1e-6)
    with pytest.raises(RuntimeError, match="of the same class"):
        functorch.combine_state_for_ensemble([nn.Linear(1, 1), nn.ReLU()])

    made = functional_init_with_buffers(nn.BatchNorm1d, (3,))
    params, buffers, _, names, buffer_names = made(2)
    assert [tuple(p.shape) for p in params] == [(3, 2), (3, 2)]
    assert (names, buffer_names[0]) == (("weight", "bias"), "running_mean")
    with pytest.raises(ValueError, match="NYI: ensemble_shape"):
        functional_init(nn.Linear, (2, 2))(1, 1)


def test_batch_norms_are_told_to_keep_no_statistics() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    assert gradfn.func.replace_all_batch_norm_modules_(model) is model
    assert model[1].running_mean is None
    assert not list(model.buffers())
