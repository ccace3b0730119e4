"""Recurrent layers and cells.

The gates of LSTM are stacked in the order input, forget, cell, output; those of GRU reset, update,
new. All weights start uniformly distributed within 1/√hidden_size of 0.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, ClassVar

from ...creation import empty, zeros
from ...missing import missing
from ...ops.joining import cat, stack
from ...tensor import Tensor
from .. import functional, init
from ..parameter import Parameter
from ..recurrence import STEPS, State, Weights, run, run_packed
from ..utils.rnn import PackedSequence
from .module import Module

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


class RNNBase(Module):
    """What RNN, LSTM and GRU have in common: the weights, and the run over layers and directions.

    Raises ValueError and TypeError for sizes that are out of range.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = _probability(dropout, num_layers)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_sizes()
        for layer in range(num_layers):
            for suffix in self._suffixes(layer):
                self._add_weights(layer, suffix, {"device": device, "dtype": dtype})
        self.reset_parameters()

    def _check_sizes(self) -> None:
        if not isinstance(self.hidden_size, int):
            kind = type(self.hidden_size).__name__
            raise TypeError(f"hidden_size should be of type int, got: {kind}")
        for name in ("input_size", "hidden_size", "num_layers"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.proj_size and self.mode != "LSTM":
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")

    @property
    def _state_size(self) -> int:
        return self.proj_size or self.hidden_size

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"][: 1 + self.bidirectional]

    def _add_weights(self, layer: int, suffix: str, options: dict[str, Any]) -> None:
        rows = _GATES[self.mode] * self.hidden_size
        below = self._state_size * (1 + self.bidirectional) if layer else self.input_size
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, below),
            "weight_hh": (rows, self._state_size),
        }
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        for name, shape in shapes.items():
            setattr(self, name + suffix, Parameter(empty(shape, **options)))

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        bound = 1 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Do nothing: it is for the memory of GPUs."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of each layer and direction."""
        suffixes = [suffix for layer in range(self.num_layers) for suffix in self._suffixes(layer)]
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        return [
            [getattr(self, name + suffix) for name in names if hasattr(self, name + suffix)]
            for suffix in suffixes
        ]

    def _weights(self, suffix: str) -> Weights:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        return Weights(*[getattr(self, name + suffix, None) for name in names])

    def forward(self, input: Any, hx: Any = None) -> Any:
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        self._check_input(input)
        batch_dim = 0 if self.batch_first else 1
        batched = input.ndim == 3
        self._check_dimensions(hx, batched)
        if not batched:
            input = input.unsqueeze(batch_dim)
            hx = self._each(hx, lambda state: state.unsqueeze(1))
        sequence = input.transpose(0, 1) if self.batch_first else input
        states = self._states(hx, sequence.shape[1], input)
        output, last = self._run(sequence, states, None)
        if self.batch_first:
            output = output.transpose(0, 1)
        if not batched:
            output, last = output.squeeze(batch_dim), tuple(part.squeeze(1) for part in last)
        return output, self._as_hidden(last)

    def _forward_packed(self, input: PackedSequence, hx: Any) -> Any:
        data, sizes, order, inverse = input
        self._check_size(data)
        if hx is not None and order is not None:
            hx = self._each(hx, lambda state: state.index_select(1, order))
        batch_sizes = sizes.tolist()
        states = self._states(hx, batch_sizes[0], data)
        output, last = self._run(data, states, batch_sizes)
        if inverse is not None:
            last = tuple(part.index_select(1, inverse) for part in last)
        return PackedSequence(output, sizes, order, inverse), self._as_hidden(last)

    def _each(self, hx: Any, change: Any) -> Any:
        if hx is None:
            return None
        return tuple(map(change, hx)) if self.mode == "LSTM" else change(hx)

    def _as_hidden(self, last: State) -> Any:
        return last if self.mode == "LSTM" else last[0]

    def _states(self, hx: Any, batch: int, like: Any) -> State:
        """The initial states, of all layers and directions: zeros, or those of `hx`."""
        count = self.num_layers * (1 + self.bidirectional)
        sizes = [self._state_size] + [self.hidden_size] * (self.mode == "LSTM")
        if hx is None:
            return tuple(zeros((count, batch, size), dtype=like.dtype) for size in sizes)
        given: State = tuple(hx) if self.mode == "LSTM" else (hx,)
        for number, (state, size) in enumerate(zip(given, sizes, strict=True)):
            if state.shape != (count, batch, size):
                what = f"hidden[{number}]" if self.mode == "LSTM" else "hidden"
                raise RuntimeError(
                    f"Expected {what} size {(count, batch, size)}, got {list(state.shape)}"
                )
        return given

    def _run(self, input: Any, states: State, batch_sizes: list[int] | None) -> tuple[Any, State]:
        """The output of the last layer, and the last states of all layers."""
        last: list[State] = []
        initial = list(zip(*(state.unbind(0) for state in states), strict=True))
        for layer in range(self.num_layers):
            outputs = []
            for direction, suffix in enumerate(self._suffixes(layer)):
                output, state = self._run_layer(
                    input, initial[len(last)], self._weights(suffix), direction == 1, batch_sizes
                )
                outputs.append(output)
                last.append(state)
            input = outputs[0] if len(outputs) == 1 else cat(outputs, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                input = functional.dropout(input, self.dropout)
        return input, tuple(stack(parts, 0) for parts in zip(*last, strict=True))

    def _run_layer(
        self,
        input: Any,
        state: State,
        weights: Weights,
        reverse: bool,
        batch_sizes: list[int] | None,
    ) -> tuple[Any, State]:
        gates = weights.of_input(input)
        step = STEPS[self.mode]
        if batch_sizes is None:
            outputs, state = run(step, list(gates.unbind(0)), state, weights, reverse)
            return stack(outputs, 0), state
        steps = list(gates.split(batch_sizes))
        outputs, state = run_packed(step, steps, state, weights, reverse)
        return cat(outputs, 0), state

    def _check_input(self, input: Any) -> None:
        if input.ndim not in (2, 3):
            raise ValueError(
                f"{self._get_name()}: Expected input to be 2D or 3D, got {input.ndim}D instead"
            )
        self._check_size(input)

    def _check_size(self, input: Any) -> None:
        weight: Any = self.weight_ih_l0
        if input.dtype != weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: "
                f"model.to({input.dtype})"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.shape[-1]}"
            )

    def _check_dimensions(self, hx: Any, batched: bool) -> None:
        ndim = 3 if batched else 2
        given = () if hx is None else tuple(hx) if self.mode == "LSTM" else (hx,)
        if all(state.ndim == ndim for state in given):
            return
        kind = "batched" if batched else "unbatched"
        if self.mode == "LSTM":
            names, found = "hx and cx", "({}-D, {}-D) tensors".format(*(s.ndim for s in given))
        else:
            names, found = "hx", f"{hx.ndim}-D tensor"
        raise RuntimeError(
            f"For {kind} {ndim}-D input, {names} should also be {ndim}-D but got {found}"
        )

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        defaults = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }
        for name, default in defaults.items():
            if getattr(self, name) != default:
                text += f", {name}={getattr(self, name)}"
        return text


def _probability(dropout: float, num_layers: int) -> float:
    if isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element "
            f"being zeroed, not {dropout}"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and num_layers=1",
            stacklevel=4,
        )
    return dropout


class RNN(RNNBase):
    """``h = tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh)``: `torch.nn.RNN`.

    Input (length, batch, input_size), with `batch_first` (batch, length, input_size), without a
    batch (length, input_size), or a `PackedSequence`; optionally the initial states
    (layers * directions, batch, hidden_size). Returns the states of the last layer at all steps,
    and the last states of all layers. `nonlinearity` is "tanh" or "relu".

    >>> from gradfn import nn, ones
    >>> output, last = nn.RNN(3, 5, num_layers=2)(ones(7, 2, 3))
    >>> output.shape, last.shape
    (torch.Size([7, 2, 5]), torch.Size([2, 2, 5]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory: `torch.nn.LSTM`. Shapes as for `RNN`, but the states are two: (h, c).

    With `proj_size`, h is ``weight_hr @ h``, of that size.

    >>> from gradfn import nn, ones
    >>> output, (h, c) = nn.LSTM(3, 5, bidirectional=True)(ones(7, 2, 3))
    >>> output.shape, h.shape
    (torch.Size([7, 2, 10]), torch.Size([2, 2, 5]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent unit: `torch.nn.GRU`. Shapes as for `RNN`.

    >>> from gradfn import nn, ones
    >>> nn.GRU(3, 5, batch_first=True)(ones(2, 7, 3))[0].shape
    torch.Size([2, 7, 5])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """What the cells have in common: the weights of one step.

    Input (batch, input_size) or (input_size), and optionally the state, (batch, hidden_size) or
    (hidden_size); the result is the next state.
    """

    mode: ClassVar[str]
    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        for name, shape in {
            "weight_ih": (rows, input_size),
            "weight_hh": (rows, hidden_size),
            "bias_ih": (rows,),
            "bias_hh": (rows,),
        }.items():
            wanted = bias or name.startswith("weight")
            weight = Parameter(empty(shape, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            text += f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    def _step(self, mode: str, input: Any, state: State | None) -> State:
        self._check(input, "input")
        names = ("hx[0]", "hx[1]") if mode == "LSTM" else ("hidden",)
        for name, part in zip(names, state or (), strict=False):
            self._check(part, name)
        batched = input.ndim == 2
        if not batched:
            input = input.unsqueeze(0)
            state = None if state is None else tuple(part.unsqueeze(0) for part in state)
        if state is None:
            blank = zeros((input.shape[0], self.hidden_size), dtype=input.dtype)
            state = (blank,) * len(names)
        self._check_shapes(input, state)
        weights = Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        state = STEPS[mode](weights.of_input(input), state, weights)
        return state if batched else tuple(part.squeeze(0) for part in state)

    def _check(self, tensor: Any, what: str) -> None:
        if tensor.ndim not in (1, 2):
            raise ValueError(
                f"{self._get_name()}: Expected {what} to be 1D or 2D, got {tensor.ndim}D instead"
            )

    def _check_shapes(self, input: Any, state: State) -> None:
        if input.shape[1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {input.shape[1]} expected "
                f"{self.input_size}"
            )
        for number, part in enumerate(state):
            if part.shape[0] != input.shape[0]:
                raise RuntimeError(
                    f"Input batch size {input.shape[0]} doesn't match hidden{number} batch size "
                    f"{part.shape[0]}"
                )
            if part.shape[1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{number} has inconsistent hidden_size: got {part.shape[1]}, expected "
                    f"{self.hidden_size}"
                )


class RNNCell(RNNCellBase):
    """One step of `RNN`: `torch.nn.RNNCell`.

    >>> from gradfn import nn, ones
    >>> nn.RNNCell(3, 5)(ones(2, 3)).shape
    torch.Size([2, 5])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        mode = f"RNN_{self.nonlinearity.upper()}"
        return self._step(mode, input, None if hx is None else (hx,))[0]


class LSTMCell(RNNCellBase):
    """One step of `LSTM`: `torch.nn.LSTMCell`. State and result are pairs (h, c)."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> Any:
        return self._step("LSTM", input, None if hx is None else tuple(hx))


class GRUCell(RNNCellBase):
    """One step of `GRU`: `torch.nn.GRUCell`."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Any:
        return self._step("GRU", input, None if hx is None else (hx,))[0]


__getattr__ = missing(__name__)
