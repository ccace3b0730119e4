"""Selective checkpoints: a policy says which results to keep, and which to compute again."""

from __future__ import annotations

import enum
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any, TypeAlias

from ..autograd.grad_mode import ModeChange
from ..autograd.memory import Memory
from ..autograd.variable import Variable
from ..ops.aten import Overloads
from ..ops.declare import Operator
from ..ops.emit import FUNCTION, INPLACE, form, with_kernel


class CheckpointPolicy(enum.Enum):
    """What to do with the result of an operator; MUST and PREFER are the same here."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3


class SelectiveCheckpointContext:
    """Tells a policy whether this is the first run or the recomputation."""

    def __init__(self, *, is_recompute: bool) -> None:
        self.is_recompute = is_recompute


Policy: TypeAlias = Callable[..., CheckpointPolicy | bool]
Entry: TypeAlias = tuple[Any, list[tuple[Memory, int]]]  # the result, and its versions


class _Interception(ModeChange):
    """A context in which `run(operator, kind, arguments)` stands for the call of an operator."""

    def __init__(self, policy: Policy, kept: dict[Any, deque[Entry]], is_recompute: bool) -> None:
        self.policy, self.kept = policy, kept
        self.about = SelectiveCheckpointContext(is_recompute=is_recompute)
        super().__init__(intercept=self.intercept)

    def intercept(
        self, operator: Operator, kind: str, arguments: tuple[Any, ...], out: Any = None
    ) -> Any:
        keywords = {} if out is None else {"out": out}
        positional = []
        for parameter, value in zip(operator.parameters, arguments, strict=True):
            if parameter.keyword_only:
                keywords[parameter.name] = value
            else:
                positional.append(value)
        before = self._previous[-1]["intercept"]
        with ModeChange(intercept=before):
            saves = kind != INPLACE and not operator.view and self._saves(operator, arguments)
            function = form(operator, kind)
            if saves and self.about.is_recompute:
                return self.recall(operator, kind, positional, keywords)
            result = function(*positional, **keywords)
            if saves:
                self.keep(operator, result)
            return result

    def _saves(self, operator: Operator, arguments: tuple[Any, ...]) -> bool:
        answer = self.policy(self.about, form(operator, FUNCTION), *arguments)
        return answer in (True, CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)

    def keep(self, operator: Operator, result: Any) -> None:
        """Keep the arrays of a first run's result."""
        tensors = [result] if isinstance(result, Variable) else list(result)
        versions = [(t.memory(), t._version) for t in tensors]
        arrays = [t._array for t in tensors]
        value = arrays[0] if isinstance(result, Variable) else arrays
        self.kept[operator].append((value, versions))

    def recall(
        self, operator: Operator, kind: str, positional: list[Any], keywords: dict[str, Any]
    ) -> Any:
        """Record the operator anew, with the result of the first run in its kernel's place."""
        if not self.kept[operator]:
            raise RuntimeError(
                f"{operator.name} encountered during backward, but not found in storage: Trying to "
                "backward an extra time. You are only allowed to backward once on any region "
                "computed under selective activation checkpoint."
            )
        value, versions = self.kept[operator].popleft()
        self.check(operator, versions)
        replayed = with_kernel(operator, kind, lambda *args, **options: value)
        return replayed(*positional, **keywords)

    def check(self, operator: Operator, versions: list[tuple[Memory, int]]) -> None:
        """RuntimeError where a kept result was written to since."""
        if any(memory.version != version for memory, version in versions):
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated: a result "
                f"of {operator.name}"
            )


class _Mutable(_Interception):
    """The same, trusting that kept results were not changed in a way that matters."""

    def check(self, operator: Operator, versions: list[tuple[Memory, int]]) -> None:
        """Kept results may be written to."""


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | list[Callable[..., Any]],
    allow_cache_entry_mutation: bool = False,
) -> tuple[ModeChange, ModeChange]:
    """Contexts for `checkpoint(context_fn=...)` that keep the results that the policy wants kept.

    The policy is called as ``policy(ctx, op, *args)`` with the operator's function, and answers
    with a `CheckpointPolicy` or whether to save; a list names the operators to save. Views and
    in-place operations are always done again.

    >>> import functools
    >>> import gradfn
    >>> from gradfn.utils.checkpoint import checkpoint
    >>> keep = functools.partial(create_selective_checkpoint_contexts, [gradfn.mm])
    >>> x = gradfn.ones(2, 2, requires_grad=True)
    >>> y = checkpoint(lambda t: t.mm(t).sin(), x, use_reentrant=False, context_fn=keep)
    >>> y.sum().backward()
    """
    if isinstance(policy_fn_or_list, list):
        for function in policy_fn_or_list:
            if not callable(function) or not hasattr(function, "operator"):
                text = f"but got: {function} of type {type(function)}."
                if isinstance(function, Overloads):
                    text += (
                        " Please update the OpOverloadPacket to a specific OpOverload: "
                        f"torch.ops.{function}.default, for example."
                    )
                raise ValueError(f"Expected op in `op_list` to be an OpOverload {text}")
        listed = policy_fn_or_list
        policy: Policy = lambda ctx, op, *args: any(op is function for function in listed)  # noqa: E731
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    kept: dict[Any, deque[Entry]] = defaultdict(deque)
    kind = _Mutable if allow_cache_entry_mutation else _Interception
    return kind(policy, kept, is_recompute=False), kind(policy, kept, is_recompute=True)
