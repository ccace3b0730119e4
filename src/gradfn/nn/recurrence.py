"""The steps of recurrent layers, and their runs along a sequence, as composites."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.joining import cat
from ..ops.products import linear

Gates = Any  # what the input contributes to a step: input @ weight_ih.T + bias_ih
State = tuple[Any, ...]  # h, or h and the memory c
Step = Callable[[Gates, State, "Weights"], State]


class Weights:
    """The weights of one layer in one direction."""

    __slots__ = ("bias_hh", "bias_ih", "projection", "weight_hh", "weight_ih")

    def __init__(
        self,
        weight_ih: Any,
        weight_hh: Any,
        bias_ih: Any = None,
        bias_hh: Any = None,
        projection: Any = None,
    ) -> None:
        self.weight_ih = weight_ih
        self.weight_hh = weight_hh
        self.bias_ih = bias_ih
        self.bias_hh = bias_hh
        self.projection = projection

    def of_input(self, input: Any) -> Gates:
        return linear(input, self.weight_ih, self.bias_ih)

    def of_hidden(self, hidden: Any) -> Gates:
        return linear(hidden, self.weight_hh, self.bias_hh)


def tanh_step(gates: Gates, state: State, weights: Weights) -> State:
    """``h = tanh(gates + h @ weight_hh.T + bias_hh)``."""
    return ((weights.of_hidden(state[0]) + gates).tanh(),)


def relu_step(gates: Gates, state: State, weights: Weights) -> State:
    """``h = relu(gates + h @ weight_hh.T + bias_hh)``."""
    return ((weights.of_hidden(state[0]) + gates).relu(),)


def lstm_step(gates: Gates, state: State, weights: Weights) -> State:
    """``c = forget * c + input * cell`` and ``h = output * tanh(c)``, projected if asked for."""
    hidden, memory = state
    parts = (weights.of_hidden(hidden) + gates).unsafe_chunk(4, 1)
    input_gate, forget_gate, output_gate = (parts[i].sigmoid() for i in (0, 1, 3))
    memory = forget_gate * memory + input_gate * parts[2].tanh()
    hidden = output_gate * memory.tanh()
    if weights.projection is not None:
        hidden = linear(hidden, weights.projection)
    return hidden, memory


def gru_step(gates: Gates, state: State, weights: Weights) -> State:
    """``h = (h - new) * update + new``, where the reset gate hides h from new."""
    (hidden,) = state
    of_input = gates.unsafe_chunk(3, 1)
    of_hidden = weights.of_hidden(hidden).unsafe_chunk(3, 1)
    reset = (of_hidden[0] + of_input[0]).sigmoid()
    update = (of_hidden[1] + of_input[1]).sigmoid()
    new = (of_input[2] + of_hidden[2] * reset).tanh()
    return ((hidden - new) * update + new,)


STEPS: dict[str, Step] = {
    "RNN_TANH": tanh_step,
    "RNN_RELU": relu_step,
    "LSTM": lstm_step,
    "GRU": gru_step,
}


def run(
    step: Step, gates: list[Gates], state: State, weights: Weights, reverse: bool
) -> tuple[list[Any], State]:
    """The hidden states of all steps, in the order of the sequence, and the last state."""
    outputs = []
    for each in reversed(gates) if reverse else gates:
        state = step(each, state, weights)
        outputs.append(state[0])
    if reverse:
        outputs.reverse()
    return outputs, state


def run_packed(
    step: Step, gates: list[Gates], state: State, weights: Weights, reverse: bool
) -> tuple[list[Any], State]:
    """`run` for a batch of which less is left at each step: the longest sequences come first."""
    return (_run_growing if reverse else _run_shrinking)(step, gates, state, weights)


def _run_shrinking(
    step: Step, gates: list[Gates], state: State, weights: Weights
) -> tuple[list[Any], State]:
    outputs, ended = [], []
    for each in gates:
        batch, left = state[0].shape[0], each.shape[0]
        if left < batch:
            ended.append(tuple(part.narrow(0, left, batch - left) for part in state))
            state = tuple(part.narrow(0, 0, left) for part in state)
        state = step(each, state, weights)
        outputs.append(state[0])
    parts = zip(state, *reversed(ended), strict=True)
    return outputs, tuple(cat(part) for part in parts) if ended else state


def _run_growing(
    step: Step, gates: list[Gates], state: State, weights: Weights
) -> tuple[list[Any], State]:
    outputs: list[Any] = []
    first = state
    batch = gates[-1].shape[0]
    state = tuple(part.narrow(0, 0, batch) for part in first)
    for each in reversed(gates):
        more = each.shape[0] - batch
        if more:
            joining = (part.narrow(0, batch, more) for part in first)
            state = tuple(cat(pair) for pair in zip(state, joining, strict=True))
            batch += more
        state = step(each, state, weights)
        outputs.append(state[0])
    outputs.reverse()
    return outputs, state
