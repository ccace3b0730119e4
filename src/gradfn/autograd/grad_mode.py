"""Grad modes: immutable values in one context variable, so per thread and per asyncio task."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from .forward_ad import Level
    from .mutation import SavedCopies
    from .node import Node

_F = TypeVar("_F", bound=Callable[..., Any])
PackHooks = tuple[Callable[[Any], Any], Callable[[Any], Any]]


@dataclasses.dataclass(frozen=True, slots=True)
class Mode:
    """What operators consult: whether to record, and who wants to see what is recorded.

    `intercept` takes over every operator call (function transforms); `saved_hooks` pack what nodes
    save, unless `hooks_refused` says why not; `anomaly` keeps the stack of each node and looks for
    NaN in the backward pass; `copies` are made of saved tensors before they are written to;
    `level` is the open dual level, which intercepts operators where `forward` mode is enabled.
    """

    grad: bool = True
    inference: bool = False
    intercept: Callable[..., Any] | None = None
    saved_hooks: tuple[PackHooks, ...] = ()
    hooks_refused: str | None = None
    anomaly: bool = False
    check_nan: bool = True
    copies: SavedCopies | None = None
    forward: bool = True
    level: Level | None = None
    multithreading: bool = True
    view_replay: bool = False

    def replace(self, **changes: Any) -> Mode:
        """This mode with `changes`; the two plain modes are single objects."""
        if (self is GRAD or self is NO_GRAD) and changes.keys() == {"grad"}:
            return GRAD if changes["grad"] else NO_GRAD  # by far the most frequent
        mode = dataclasses.replace(self, **changes)
        if mode.inference and mode.grad:  # nothing is recorded in inference mode
            mode = dataclasses.replace(mode, grad=False)
        return GRAD if mode == GRAD else NO_GRAD if mode == NO_GRAD else mode

    def recorded(self, node: Node) -> None:
        """Called for each new node, except in the plain mode."""
        if self.saved_hooks:
            node.pack(*self.saved_hooks[-1])
        if self.anomaly:
            node.remember_stack()
        if self.level is not None:
            self.level.recorded(node)


GRAD = Mode()
NO_GRAD = Mode(grad=False)

_mode: ContextVar[Mode] = ContextVar("gradfn_mode", default=GRAD)
get_mode = _mode.get
set_mode = _mode.set


class ModeChange:
    """A mode change as a context manager and as a decorator, also of generators and coroutines."""

    def __init__(self, **changes: Any) -> None:
        self._changes = changes
        self._previous: list[dict[str, Any]] = []

    def _change(self) -> None:
        mode = get_mode()
        self._previous.append({name: getattr(mode, name) for name in self._changes})
        set_mode(mode.replace(**self._changes))

    def __enter__(self) -> None:
        self._change()

    def __exit__(self, *exc: object) -> None:
        set_mode(get_mode().replace(**self._previous.pop()))

    def __call__(self, function: _F) -> _F:
        if inspect.isclass(function):
            return cast(_F, self._decorate_class(function))
        if inspect.isgeneratorfunction(function):
            return cast(_F, self._decorate_generator(function))
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_async(*args: Any, **kwargs: Any) -> Any:
                with ModeChange(**self._changes):
                    return await function(*args, **kwargs)

            return cast(_F, run_async)

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with ModeChange(**self._changes):
                return function(*args, **kwargs)

        return cast(_F, run)

    def _decorate_class(self, cls: Any) -> Any:
        warnings.warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should "
            "only decorate functions or methods. To preserve the current behavior of class "
            "decoration, you can directly decorate the `__init__` method and nothing else.",
            FutureWarning,
            stacklevel=3,
        )
        cls.__init__ = self(cls.__init__)
        return cls

    def _decorate_generator(self, function: Any) -> Any:
        """Hold the mode only while the generator runs, not while it waits."""

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            resume: Callable[[], Any] = functools.partial(next, generator)
            while True:
                try:
                    with ModeChange(**self._changes):
                        item = resume()
                except StopIteration as stop:
                    return stop.value
                try:
                    sent = yield item
                    resume = functools.partial(generator.send, sent)
                except GeneratorExit:
                    with ModeChange(**self._changes):
                        generator.close()
                    raise
                except BaseException as error:
                    resume = functools.partial(generator.throw, error)

        return run


class _BareDecorator(ModeChange):
    """A mode change that may also decorate without being called: ``@no_grad``."""

    def __new__(cls, function: Any = None) -> Any:
        change: Any = super().__new__(cls)
        if function is None:
            return change
        change.__init__()
        return change(function)


class no_grad(_BareDecorator):  # noqa: N801 - PyTorch's name
    """Record no operations: results have ``requires_grad=False``.

    >>> import gradfn
    >>> x = gradfn.tensor(2.0, requires_grad=True)
    >>> with gradfn.no_grad():
    ...     print((x * 2).requires_grad)
    False
    """

    def __init__(self) -> None:
        super().__init__(grad=False)


class enable_grad(_BareDecorator):  # noqa: N801
    """Record operations again inside `no_grad`."""

    def __init__(self) -> None:
        super().__init__(grad=True)


class set_grad_enabled(ModeChange):  # noqa: N801
    """Turn recording on or off: at once when called, until the block's end when used as one."""

    def __init__(self, mode: bool) -> None:
        super().__init__(grad=bool(mode))
        self._change()

    def __enter__(self) -> None:
        """The change is made by the call itself, as in PyTorch."""

    def __call__(self, function: _F) -> _F:
        self.__exit__()
        return super().__call__(function)

    def __str__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self._changes['grad']})"


class inference_mode(ModeChange):  # noqa: N801
    """Record nothing, and mark new tensors as never to take part in a graph."""

    def __new__(cls, mode: Any = True) -> Any:
        change: Any = super().__new__(cls)
        if isinstance(mode, bool):
            return change
        change.__init__()
        return change(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__(inference=mode, grad=not mode)


def is_grad_enabled() -> bool:
    """Whether operations are being recorded here (per thread and per asyncio task)."""
    return get_mode().grad


def is_inference_mode_enabled() -> bool:
    """Whether the innermost mode is `inference_mode`."""
    return get_mode().inference


class set_multithreading_enabled(ModeChange):  # noqa: N801
    """Accepted for PyTorch's sake: a backward pass runs in the thread that calls it."""

    def __init__(self, mode: bool) -> None:
        super().__init__(multithreading=bool(mode))
        self._change()

    def __enter__(self) -> None:
        """The change is made by the call itself, as in PyTorch."""


class _force_original_view_tracking(ModeChange):  # noqa: N801
    """Accepted for PyTorch's sake: views always follow their base by where they lie in it."""

    def __init__(self, mode: bool) -> None:
        super().__init__(view_replay=bool(mode))
        self._change()

    def __enter__(self) -> None:
        """The change is made by the call itself, as in PyTorch."""


def is_view_replay_enabled() -> bool:
    """What `_force_original_view_tracking` was last told."""
    return get_mode().view_replay


def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` was last told."""
    return get_mode().multithreading
