"""Mixed precision: what autocast computes in which dtype, and how the scale of losses moves."""

import pickle
import warnings
from types import ModuleType
from typing import Any

import pytest

import gradfn
from gradfn import amp
from gradfn.nn import functional

HALF = gradfn.float16


def test_products_are_in_half_precision_and_losses_in_full() -> None:
    x = gradfn.ones(2, 2, requires_grad=True)
    with gradfn.autocast("cpu", dtype=HALF):
        y = x @ x
        assert (y.dtype, (x + 1).dtype, (y + x).dtype) == (HALF, gradfn.float32, gradfn.float32)
        assert gradfn.linalg.vecdot(x, x).dtype in (HALF, gradfn.float32)
        loss = functional.mse_loss(y, x.detach())
        assert loss.dtype == gradfn.float32
        with gradfn.autocast("cpu", enabled=False):
            assert (x @ x).dtype == gradfn.float32
        assert (x.double() @ x.double()).dtype == gradfn.float64
    assert (x @ x).dtype == gradfn.float32
    loss.backward()
    assert x.grad.dtype == gradfn.float32


def test_a_leaf_is_cast_once_in_a_block() -> None:
    layer = gradfn.nn.Linear(3, 3)
    x = gradfn.ones(2, 3)
    with gradfn.autocast("cpu", dtype=HALF):
        nodes = [layer(x).grad_fn.next_functions[0][0] for _ in range(2)]
        assert nodes[0] is nodes[1]
        with gradfn.no_grad():
            layer.bias += 1
        assert layer(x).grad_fn.next_functions[0][0] is not nodes[0]


def test_autocast_decorates_and_nests_with_other_transforms() -> None:
    @gradfn.autocast("cpu", dtype=HALF)
    def product(x: Any) -> Any:
        return x @ x

    x = gradfn.ones(3, 2, 2)
    assert product(x[0]).dtype == HALF
    assert not gradfn.is_autocast_enabled("cpu")
    assert gradfn.func.vmap(product)(x).dtype == HALF
    gradient = gradfn.func.grad(lambda x: product(x).float().sum())(x[0])
    assert gradient.tolist() == [[4.0, 4.0], [4.0, 4.0]]
    with gradfn.autocast("cpu", dtype=HALF):
        tangent = gradfn.func.jvp(lambda x: x @ x, (x[0],), (x[0],))[1]
    assert tangent.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_what_cannot_be_autocast_says_so() -> None:
    with pytest.warns(UserWarning, match="'cuda', but CUDA is not available. Disabling"):
        block = gradfn.autocast("cuda")
    with block:
        assert (gradfn.ones(1, 1) @ gradfn.ones(1, 1)).dtype == gradfn.float32
    with pytest.warns(UserWarning, match="only supports dtypes of torch.bfloat16, torch.float16"):
        gradfn.autocast("cpu", dtype=gradfn.float64)
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        gradfn.autocast(3)
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        gradfn.autocast("toaster")


@pytest.mark.parametrize("cast_inputs", [None, gradfn.float32])
def test_custom_functions_follow_autocast(cast_inputs: Any) -> None:
    seen: list[Any] = []

    class Product(gradfn.autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cpu", cast_inputs=cast_inputs)
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            seen.append((a.dtype, gradfn.is_autocast_enabled("cpu")))
            ctx.save_for_backward(a, b)
            return a.mm(b)

        @staticmethod
        @amp.custom_bwd(device_type="cpu")
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(gradfn.is_autocast_enabled("cpu"))
            a, b = ctx.saved_tensors
            return g.mm(b.t()), a.t().mm(g)

    w = gradfn.ones(2, 2, requires_grad=True)
    with gradfn.autocast("cpu", dtype=HALF):
        made = Product.apply(w @ w, w)
    made.float().sum().backward()
    expected = (HALF, True) if cast_inputs is None else (gradfn.float32, False)
    assert seen == [expected, expected[1]]
    assert made.dtype == (HALF if cast_inputs is None else gradfn.float32)


def trained(torch: ModuleType) -> list[Any]:
    """The weights, scales and counts of a few steps, with one overflow among them."""
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    record: list[Any] = []
    for step in range(6):
        optimizer.zero_grad()
        loss = scaler.scale((weight * weight).sum())
        (loss * float("inf") if step == 3 else loss).backward()
        if step % 2:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_([weight], 1.0)
        scaler.step(optimizer)
        scaler.update()
        record.append((weight.tolist(), scaler.get_scale(), scaler.state_dict()))
    return record


def test_the_scale_moves_as_pytorchs(oracle: ModuleType) -> None:
    ours, theirs = trained(gradfn), trained(oracle)
    assert [step[1:] for step in ours] == [step[1:] for step in theirs]
    assert [step[0] for step in ours] == [pytest.approx(step[0]) for step in theirs]


def test_overflow_skips_the_step() -> None:
    record = trained(gradfn)
    assert [scale for _, scale, _ in record] == [8.0, 16.0, 16.0, 8.0, 8.0, 16.0]
    assert record[2][0] == record[3][0]


def test_calls_out_of_order_are_refused() -> None:
    weight = gradfn.nn.Parameter(gradfn.ones(2))
    optimizer = gradfn.optim.SGD([weight], lr=0.1)
    scaler = amp.GradScaler("cpu")
    for call in (scaler.update, lambda: scaler.step(optimizer), lambda: scaler.unscale_(optimizer)):
        with pytest.raises(AssertionError, match="but _scale is None"):
            call()
    scaler.scale([weight.sum(), (weight.sum(),)])[0].backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="unscale_\\(\\) has already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="step\\(\\) has already been called"):
        scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="unscale_\\(\\) is being called after step"):
        scaler.unscale_(optimizer)
    scaler.update()
    with pytest.raises(AssertionError, match="No inf checks were recorded prior to update"):
        scaler.update()
    with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable"):
        scaler.scale(3)
    with pytest.raises(RuntimeError, match="Closure use is not currently supported"):
        scaler.step(optimizer, closure=lambda: 1)
    with pytest.raises(RuntimeError, match="source state dict is empty"):
        scaler.load_state_dict({})
    with pytest.raises(AssertionError, match="growth factor must be > 1"):
        amp.GradScaler("cpu", growth_factor=1.0)
    half = gradfn.nn.Parameter(gradfn.ones(1, dtype=HALF))
    half.grad = gradfn.ones(1, dtype=HALF)
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(gradfn.optim.SGD([half], lr=0.1))


def test_scalers_are_saved_and_set() -> None:
    scaler = amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(gradfn.ones(1))
    scaler.update(3.0)
    assert pickle.loads(pickle.dumps(scaler)).state_dict() == scaler.state_dict()
    other = amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.get_scale() == 3.0
    other.set_growth_interval(7)
    assert (other.get_growth_interval(), other.get_backoff_factor()) == (7, 0.5)


def test_without_the_device_scaling_does_nothing() -> None:
    with pytest.warns(UserWarning, match="GradScaler is enabled, but CUDA is not available"):
        scaler = amp.GradScaler()
    weight = gradfn.nn.Parameter(gradfn.ones(1))
    optimizer = gradfn.optim.SGD([weight], lr=0.5)
    scaler.scale(weight.sum()).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert (weight.item(), scaler.get_scale(), scaler.state_dict()) == (0.5, 1.0, {})


def test_old_names_warn() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with gradfn.cuda.amp.autocast(), gradfn.cpu.amp.autocast(dtype=HALF):
            assert gradfn.is_autocast_enabled("cpu")
        assert not gradfn.cuda.amp.GradScaler().is_enabled()
        assert gradfn.cpu.amp.GradScaler().is_enabled()
    deprecated = [w for w in caught if w.category is FutureWarning]
    assert len(deprecated) == 4
