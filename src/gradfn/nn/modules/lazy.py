"""Modules that learn the sizes of their parameters from the first input."""

from __future__ import annotations

from typing import Any, ClassVar

from ...missing import missing
from ..parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """What a lazy module has before the class of the module: `torch.nn.modules.lazy`.

    Its `__init__` sets parameters and buffers that are uninitialized. The first call runs
    `initialize_parameters` on the input, which materializes them, and then makes the module one of
    `cls_to_become`; so does a state that is loaded, all but the last.

    >>> from gradfn import nn, ones
    >>> layer = nn.LazyLinear(3)
    >>> layer(ones(2, 4)).shape, layer
    (torch.Size([2, 3]), Linear(in_features=4, out_features=3, bias=True))
    """

    cls_to_become: ClassVar[type[Any] | None] = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def initialize_parameters(self: Any, *args: Any, **kwargs: Any) -> None:
        """Materialize the parameters and buffers for these arguments. To be overridden."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self: Any) -> bool:
        """Whether a parameter or buffer of the module itself has no shape yet."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _infer_parameters(
        self: Any, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """The hook before the first `forward`."""
        module.initialize_parameters(*args, **kwargs)
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        for name in ("_initialize_hook", "_load_hook"):
            vars(module).pop(name).remove()
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _lazy_load_hook(self: Any, state_dict: Any, prefix: str, *rest: Any) -> None:
        """The hook before a state is loaded: shapes are those of the state."""
        for name, tensor in [*self._parameters.items(), *self._buffers.items()]:
            given = state_dict.get(prefix + name)
            if is_lazy(tensor) and given is not None and not is_lazy(given):
                tensor.materialize(given.shape)


class LazyLayer(LazyModuleMixin):
    """A layer whose number of inputs is that of the first input."""

    size_name: ClassVar[str]  # the attribute with that number, 0 until it is known

    def _size_of(self: Any, input: Any) -> int:
        """The number of inputs."""
        size: int = input.shape[1]
        return size

    def _materialize(self: Any) -> None:
        """Give the parameters and buffers their shapes, for the number of inputs that is set."""
        raise NotImplementedError

    def reset_parameters(self: Any) -> None:
        """Draw the parameters anew, if there are any yet."""
        if getattr(self, self.size_name) != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Any) -> None:
        """Take over the number of inputs, and draw what was not loaded."""
        setattr(self, self.size_name, self._size_of(input))
        if self.has_uninitialized_params():
            self._materialize()
            self.reset_parameters()


__getattr__ = missing(__name__)
