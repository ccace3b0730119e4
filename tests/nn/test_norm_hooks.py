"""The old weight and spectral normalisation, fused layers and the like, compared with PyTorch."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from twice import Program, agree, refuse

import gradfn
from gradfn import nn


def numbers(torch: Any, *shape: int) -> Any:
    count = gradfn.Size(shape).numel()
    return (torch.arange(float(count)) * 0.37 % 2 - 0.9).reshape(shape)


def normed(torch: Any, how: str, call: str = "Linear(3, 4)", **options: Any) -> Any:
    made = eval(f"torch.nn.{call}", {"torch": torch})
    return getattr(torch.nn.utils, how)(made, **options)


def used(how: str, call: str, *shape: int, **options: Any) -> Program:
    def program(torch: Any) -> Any:
        made = normed(torch, how, call, **options)
        first = [repr(made), made.state_dict(), made.weight]
        made(numbers(torch, *shape)).sin().sum().backward()
        parameters = [(name, p.grad) for name, p in made.named_parameters()]
        return [first, made.state_dict(), made.weight, parameters, torch.rand(1)]

    return program


def undone(how: str) -> Program:
    def program(torch: Any) -> Any:
        made = normed(torch, how)
        made(numbers(torch, 1, 3))
        result = getattr(torch.nn.utils, f"remove_{how}")(made)
        hooks = [len(made._forward_pre_hooks), len(made._state_dict_hooks)]
        return [result is made, made.state_dict(), type(made.weight).__name__, hooks]

    return program


def recurrent(torch: Any) -> Any:
    made = normed(torch, "weight_norm", "LSTM(2, 2)", name="weight_hh_l0")
    return [list(made.state_dict()), made(numbers(torch, 3, 1, 2))[0].detach()]


def modes(torch: Any) -> Any:
    made, x = normed(torch, "spectral_norm"), numbers(torch, 1, 3)
    return [made(x), made(x), made.eval()(x), made(x), dict(made.state_dict()._metadata[""])]


def loaded(torch: Any) -> Any:
    first, second = normed(torch, "spectral_norm"), normed(torch, "spectral_norm")
    second.load_state_dict(first.state_dict())
    return second.eval()(numbers(torch, 1, 3))


def from_old_state(torch: Any) -> Any:
    """The state of a layer as it was before the right singular vector belonged to it."""
    first, second = (normed(torch, "spectral_norm", "Linear(2, 4)") for _ in range(2))
    first(numbers(torch, 1, 2))
    state = {key: value for key, value in first.state_dict().items() if key != "weight_v"}
    state["weight"] = first.weight.detach()
    keys = second.load_state_dict(state)
    return [repr(keys), second.eval()(numbers(torch, 1, 2))]


def fused(torch: Any, first: Any, norm: Any, x: Any, *options: Any) -> Any:
    with torch.no_grad():
        norm.running_mean.uniform_()
        norm.running_var.uniform_(1, 2)
        if norm.weight is not None:
            norm.weight.uniform_()
    kind = "linear" if isinstance(first, torch.nn.Linear) else "conv"
    fuse = getattr(torch.nn.utils, f"fuse_{kind}_bn_eval")
    made = fuse(first.eval(), norm.eval(), *options)
    same = bool((made(x) - norm(first(x))).abs().max() < 1e-5)
    return [same, repr(made), made.state_dict(), [p.requires_grad for p in made.parameters()]]


def fuses(call: str, norm: str, *shape: int, options: tuple[Any, ...] = ()) -> Program:
    def program(torch: Any) -> Any:
        layers = [eval(f"torch.nn.{text}", {"torch": torch}) for text in (call, norm)]
        return fused(torch, *layers, numbers(torch, *shape), *options)

    return program


def skipped(torch: Any) -> Any:
    made = torch.nn.utils.skip_init(torch.nn.Conv2d, 3, 4, 2, dtype=torch.float64)
    return [repr(made), str(made.weight.dtype), str(made.weight.shape), torch.rand(1)]


def laid_out(torch: Any) -> Any:
    net = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 2), torch.nn.Linear(2, 2))
    torch.nn.utils.convert_conv2d_weight_memory_format(net, torch.channels_last)
    cube = torch.nn.Conv3d(2, 3, 2)
    torch.nn.utils.convert_conv3d_weight_memory_format(cube, torch.channels_last_3d)
    return [layer.weight.stride() for layer in (*net, cube)]


PROGRAMS: dict[str, Program] = {
    "weight": used("weight_norm", "Linear(3, 4)", 2, 3),
    "weight by column": used("weight_norm", "Linear(3, 4)", 2, 3, dim=1),
    "weight at once": used("weight_norm", "Linear(3, 4)", 2, 3, dim=None),
    "weight of a convolution": used("weight_norm", "Conv2d(2, 3, 2)", 1, 2, 3, 3),
    "weight undone": undone("weight_norm"),
    "recurrent": recurrent,
    "spectral": used("spectral_norm", "Linear(3, 4)", 2, 3),
    "spectral by column": used("spectral_norm", "Linear(3, 4)", 2, 3, dim=1, n_power_iterations=3),
    "spectral of a transposed one": used("spectral_norm", "ConvTranspose1d(2, 3, 2)", 1, 2, 3),
    "spectral of a bias": used("spectral_norm", "Linear(3, 4)", 2, 3, name="bias"),
    "spectral undone": undone("spectral_norm"),
    "modes": modes,
    "loaded": loaded,
    "from an old state": from_old_state,
    "fused": fuses("Conv2d(2, 3, 2)", "BatchNorm2d(3)", 1, 2, 4, 4),
    "fused without biases": fuses(
        "Conv1d(2, 3, 2, bias=False)", "BatchNorm1d(3, affine=False)", 1, 2, 4
    ),
    "fused transposed": fuses(
        "ConvTranspose2d(2, 3, 2)", "BatchNorm2d(3)", 1, 2, 4, 4, options=(True,)
    ),
    "fused linear": fuses("Linear(2, 3)", "BatchNorm1d(3)", 4, 2),
    "fused frozen": fuses("Linear(2, 3, bias=False).requires_grad_(False)", "BatchNorm1d(3)", 4, 2),
    "skipped": skipped,
    "laid out": laid_out,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_norm_hooks_do_what_pytorchs_do(oracle: ModuleType, program: Program) -> None:
    agree(program, oracle, tolerance=1e-5)


def twice(torch: Any, how: str) -> Any:
    return getattr(torch.nn.utils, how)(normed(torch, how))


def train_fused(torch: Any, kind: str, layer: str, norm: str) -> Any:
    made = [getattr(torch.nn, layer), getattr(torch.nn, norm)]
    sizes = (2, 3) if kind == "linear" else (2, 3, 2)
    return getattr(torch.nn.utils, f"fuse_{kind}_bn_eval")(made[0](*sizes), made[1](3))


REFUSED: dict[str, Program] = {
    "weight twice": lambda torch: twice(torch, "weight_norm"),
    "spectral twice": lambda torch: twice(torch, "spectral_norm"),
    "no such weight": lambda torch: normed(torch, "weight_norm", name="w"),
    "no such spectral": lambda torch: normed(torch, "spectral_norm", name="w"),
    "no bias": lambda torch: normed(
        torch, "spectral_norm", "Linear(3, 4, bias=False)", name="bias"
    ),
    "lazy weight": lambda torch: normed(torch, "weight_norm", "LazyLinear(3)"),
    "lazy spectral": lambda torch: normed(torch, "spectral_norm", "LazyLinear(3)"),
    "no iterations": lambda torch: normed(torch, "spectral_norm", n_power_iterations=0),
    "no weight norm": lambda torch: torch.nn.utils.remove_weight_norm(torch.nn.Linear(3, 4)),
    "no spectral norm": lambda torch: torch.nn.utils.remove_spectral_norm(torch.nn.Linear(3, 4)),
    "fused in training": lambda torch: train_fused(torch, "conv", "Conv1d", "BatchNorm1d"),
    "fused linear in training": lambda torch: train_fused(torch, "linear", "Linear", "BatchNorm1d"),
    "fused features": lambda torch: torch.nn.utils.fuse_linear_bn_eval(
        torch.nn.Linear(2, 3).eval(), torch.nn.BatchNorm1d(4).eval()
    ),
    "fused without statistics": lambda torch: torch.nn.utils.fuse_linear_bn_eval(
        torch.nn.Linear(2, 3).eval(), torch.nn.BatchNorm1d(3, track_running_stats=False).eval()
    ),
    "skipped without device": lambda torch: torch.nn.utils.skip_init(torch.nn.ReLU),
    "skipped no module": lambda torch: torch.nn.utils.skip_init(int),
}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_norm_hooks_refuse_what_pytorchs_do(oracle: ModuleType, program: Program) -> None:
    refuse(program, oracle)


def test_removed_spectral_norms_leave_no_hooks() -> None:
    layer = nn.utils.remove_spectral_norm(nn.utils.spectral_norm(nn.Linear(3, 2)))
    assert not layer._load_state_dict_pre_hooks
    layer.load_state_dict(nn.Linear(3, 2).state_dict())
