"""Batching rules of convolutions, pooling, normalisation, embeddings, losses and samplers."""

from __future__ import annotations

from typing import Any

from ...autograd.batching import Batched
from ...autograd.variable import Variable
from ...raw.loss import MEAN, NONE
from ...raw.reduction import others
from ..comparison import where
from ..declare import registry
from ..norms import vector_norm
from .calls import Call
from .rules import DRAWING, RANDOM, aligned, batches, one_by_one, random

# These work on the last dimensions whatever comes before them.
_IMAGES = ("avg_pool", "max_pool", "adaptive_", "upsample_", "reflection_pad", "replication_pad")
batches(*(name for name in registry if name.startswith(_IMAGES)))(aligned)
batches("constant_pad_nd", "pick", "unpick", "resample", "one_hot")(aligned)

batches(
    "uniform", "normal", "log_normal", "cauchy", "exponential", "geometric", "random.from",
    "random.to", "random", "bernoulli.p", "bernoulli.Tensor", "bernoulli", "normal.Tensor_float",
    "normal.float_Tensor", "normal.Tensor_Tensor", "poisson",
)(RANDOM)  # fmt: skip


@batches("to_planes", "from_planes")
def _picked(call: Call) -> Any:
    return call.run(self=call.front("self"), index=call.front("index"))


def _joined(call: Call, name: str) -> Any:
    """The batch and the first dimension of examples in one."""
    return call.front(name).flatten(0, 1)


def _channels(call: Call, name: str) -> Any:
    """(batch, N, C, ...) as (N, batch * C, ...)."""
    return call.front(name).movedim(0, 1).flatten(1, 2)


def _unchannelled(call: Call, made: Any) -> Any:
    """(N, batch * C, ...) as (batch, N, C, ...)."""
    return made.unflatten(1, (call.size, made.shape[1] // call.size)).movedim(1, 0)


@batches("convolution")
def _convolved(call: Call) -> Any:
    """Weights of their own make the examples groups of one convolution."""
    bias = call["bias"]
    batched_bias = bias is not None and call.batched["bias"]
    if call.batched["weight"]:
        made = call.run(
            self=_channels(call, "self"),
            weight=call["weight"].flatten(0, 1),
            bias=None if bias is None else call.front("bias").flatten(),
            groups=call["groups"] * call.size,
        )
        return _unchannelled(call, made)
    x = call["self"].flatten(0, 1) if call.batched["self"] else call["self"]
    made = call.run(self=x, bias=None if batched_bias else bias)
    if call.batched["self"]:
        made = made.unflatten(0, (call.size, made.shape[0] // call.size))
    if batched_bias:
        made = made + bias.reshape(call.size, 1, -1, *[1] * (made.ndim - 2 - call.batched["self"]))
    return made


@batches("convolution_input")
def _convolved_input(call: Call) -> Any:
    *setup, groups = call["setup"]
    n, channels, *sizes = call["shape"]
    if not call.batched["weight"]:
        made = call.run(grad=_joined(call, "grad"), shape=(call.size * n, channels, *sizes))
        return made.unflatten(0, (call.size, n))
    made = call.run(
        grad=_channels(call, "grad"),
        weight=call["weight"].flatten(0, 1),
        shape=(n, call.size * channels, *sizes),
        setup=(*setup, groups * call.size),
    )
    return _unchannelled(call, made)


@batches("convolution_weight")
def _convolved_weight(call: Call) -> Any:
    *setup, groups = call["setup"]
    out, *sizes = call["shape"]
    made = call.run(
        grad=_channels(call, "grad"),
        self=_channels(call, "self"),
        shape=(call.size * out, *sizes),
        setup=(*setup, groups * call.size),
    )
    return made.unflatten(0, (call.size, out))


batches("embedding_bag")(one_by_one)


@batches("embedding")
def _embedded(call: Call) -> Any:
    if not call.batched["weight"]:
        return call.run()
    weight, rows = call["weight"], call["weight"].shape[1]
    indices = call.front("indices")
    shift = _numbers(call).mul(rows).reshape(-1, *[1] * (indices.ndim - 1))
    made = call.run(weight=weight.flatten(0, 1), indices=indices + shift, padding_idx=-1)
    padding = (indices == call["padding_idx"]).unsqueeze(-1)
    return where(padding, made.detach(), made) if call["padding_idx"] >= 0 else made


def _numbers(call: Call) -> Any:
    from ...ranges import arange

    return arange(call.size)


@batches("embedding_dense_backward")
def _embedding_gradient(call: Call) -> Any:
    indices, rows = call.front("indices"), call["num_weights"]
    grad = call.front("grad_output")
    padding = call["padding_idx"]
    if padding >= 0:
        grad = grad.masked_fill((indices == padding).unsqueeze(-1), 0)
    if call["scale_grad_by_freq"]:
        return one_by_one(call)
    shift = _numbers(call).mul(rows).reshape(-1, *[1] * (indices.ndim - 1))
    made = call.run(
        grad_output=grad, indices=indices + shift, num_weights=rows * call.size, padding_idx=-1
    )
    return made.unflatten(0, (call.size, rows))


@batches("native_layer_norm")
def _layer_norm(call: Call) -> Any:
    """Scaled and shifted afterwards where the examples have their own weights."""
    rank = call.rank("self")
    x = call.front("self")
    own = any(call.batched[name] for name in ("weight", "bias") if call[name] is not None)
    if not own:
        return call.run(self=x)
    result, mean, rstd = call.run(self=x, weight=None, bias=None)
    if call["weight"] is not None:
        result = result * call.aligned("weight", rank)
    if call["bias"] is not None:
        result = result + call.aligned("bias", rank)
    return [result, mean, rstd]


@batches("native_group_norm")
def _group_norm(call: Call) -> Any:
    x = call.front("self")
    own = any(call.batched[name] for name in ("weight", "bias") if call[name] is not None)
    changes = {"weight": None, "bias": None} if own else {}
    made = call.run(self=x.flatten(0, 1), **changes)
    result, mean, rstd = (part.unflatten(0, x.shape[:2]) for part in made)
    if own and call["weight"] is not None:
        result = result * _by_channel(call, "weight", x.ndim)
    if own and call["bias"] is not None:
        result = result + _by_channel(call, "bias", x.ndim)
    return [result, mean, rstd]


def _by_channel(call: Call, name: str, ndim: int) -> Any:
    return call.front(name).reshape(call.size, 1, -1, *[1] * (ndim - 3))


@batches("weight_norm_interface")
def _weight_norm(call: Call) -> Any:
    v, length = call.front("v"), call.front("length")
    dims = tuple(dim + 1 for dim in others(call["dim"], v.ndim - 1))
    norm = vector_norm(v, 2, dims, True)
    return [v * (length / norm), norm]


@batches("nll_loss", "nll_loss2d")
def _nll(call: Call) -> Any:
    """By element, then reduced for each example."""
    if call["weight"] is not None and call.batched["weight"]:
        return one_by_one(call)
    scores, target, weight = call.front("self"), call.front("target"), call["weight"]
    single = target.ndim == 1
    if not single:
        scores, target = scores.flatten(0, 1), target.flatten(0, 1)
    losses = call.run(self=scores, target=target, reduction=NONE)
    losses = losses.reshape(call.size, -1) if single else losses.unflatten(0, (call.size, -1))
    if call["reduction"] == NONE:
        return losses.reshape(call.front("target").shape)
    total = losses.flatten(1).sum(1)
    if call["reduction"] != MEAN:
        return total
    counted = call.front("target") != call["ignore_index"]
    if weight is None:
        share = counted.to(losses.dtype)
    else:
        share = weight[call.front("target") * counted] * counted
    return total / share.reshape(call.size, -1).sum(1)


@batches("nll_loss_backward")
def _nll_gradient(call: Call) -> Any:
    if call["weight"] is not None and call.batched["weight"]:
        return one_by_one(call)
    scores, target, weight, g = (
        call.front("self"),
        call.front("target"),
        call["weight"],
        call.front("grad_output"),
    )
    shape = target.shape
    if call["reduction"] != NONE:
        counted = (target != call["ignore_index"]).to(scores.dtype)
        share = counted if weight is None else weight[target * counted.to(target.dtype)] * counted
        if call["reduction"] == MEAN:
            g = g / share.reshape(call.size, -1).sum(1)
        g = g.reshape(call.size, *[1] * (len(shape) - 1)).expand(shape)
    if len(shape) > 1:
        scores, target, g = (x.flatten(0, 1) for x in (scores, target, g))
    made = call.run(grad_output=g, self=scores, target=target, reduction=NONE)
    return made.reshape(call.front("self").shape)


@batches("multinomial")
def _drawn(call: Call) -> Any:
    """Rows of weights one after the other."""
    call.level.check_random()
    weights = call.front("self")
    if call.level.randomness == "same":
        return random(call)
    call.result_batched = True
    if weights.ndim != 3:
        return call.run(self=weights)
    return call.run(self=weights.flatten(0, 1)).unflatten(0, weights.shape[:2])


DRAWING.append(_drawn)


@batches("native_batch_norm")
def _batch_norm(call: Call) -> Any:
    """The channels of all examples side by side."""
    x = _channels(call, "self")
    changes: dict[str, Any] = {}
    for name in ("weight", "bias"):
        if call[name] is not None:
            changes[name] = call.front(name).flatten()
    for name in ("running_mean", "running_var"):
        changes[name] = _running(call, name)
    result, mean, rstd = call.run(self=x, **changes)
    means = [part.reshape(call.size, -1) for part in (mean, rstd)]
    return [_unchannelled(call, result), *means]


def _running(call: Call, name: str) -> Any:
    """The running statistics of all examples: followed in place where each has its own."""
    array = call[name]
    if array is None:
        return None
    if isinstance(array, Batched) and array.batched:
        return array.physical.view(-1)._array
    if call["training"]:
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, which "
            "will be updated in place, were not batched. If you are using modules and do not need "
            "eval mode, please set `track_running_stats` to be False. If you are using a prebuilt "
            "module and do not need eval mode, please see the functorch website for resources on "
            "how to patch your module to work with vmap"
        )
    shared = array.physical if isinstance(array, Batched) else Variable.wrap(array)
    return shared.repeat(call.size)._array
