"""Autocast: products of matrices in half precision, losses in full, and the rest as it comes.

Note [Autocast intercepts]: an enabled `autocast` takes over every operator call, as function
transforms do. It casts the floating-point inputs as the operator's policy says and goes on. The
policies name rows; what is made of them follows.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any

from .. import dtypes
from ..autograd.grad_mode import ModeChange, get_mode
from ..autograd.variable import LEAF, Variable
from ..device import device as Device
from ..ops.declare import Operator
from ..ops.emit import INPLACE, form

# In the dtype of the autocast: products of matrices.
LOWER = (
    "_scaled_dot_product_flash_attention_for_cpu addbmm addmm baddbmm bmm convolution dot "
    "linalg_vecdot mm mv"
)
# In float32: what loses too much otherwise.
FULL = (
    "avg_pool3d binary_cross_entropy binary_cross_entropy_with_logits cdist cholesky "
    "cholesky_inverse cholesky_solve fft_c2c fft_c2r fft_r2c geqrf grid_sampler_2d grid_sampler_3d "
    "huber_loss linalg_cholesky_ex linalg_det linalg_eig linalg_eigh linalg_householder_product "
    "linalg_inv_ex linalg_lstsq linalg_lu linalg_lu_factor_ex linalg_lu_solve linalg_matrix_exp "
    "linalg_pinv linalg_qr linalg_slogdet linalg_solve_ex linalg_solve_triangular linalg_svd "
    "mse_loss multi_margin_loss multilabel_margin_loss nll_loss nll_loss2d ormqr polar prod "
    "smooth_l1_loss soft_margin_loss trace triangular_solve view_as_complex"
)
POLICIES = {**dict.fromkeys(LOWER.split(), "lower"), **dict.fromkeys(FULL.split(), "full")}
SUPPORTED = (dtypes.bfloat16, dtypes.float16)
DEVICES = ("cpu", "cuda", "mps", "xpu", "hpu", "mtia", "xla", "ipu", "maia", "privateuseone")

_enabled: ContextVar[bool] = ContextVar("gradfn_autocast_enabled", default=False)
_dtype: ContextVar[dtypes.dtype] = ContextVar("gradfn_autocast_dtype", default=dtypes.bfloat16)
_cache: ContextVar[bool] = ContextVar("gradfn_autocast_cache", default=True)


class _Casting(ModeChange):
    """The interception of one `autocast` block, with the copies of leaves that it has made."""

    def __init__(self) -> None:
        super().__init__(intercept=self.intercept)
        self.outer = get_mode().intercept
        self.copies: dict[tuple[Any, ...], tuple[Any, Any]] = {}  # with the leaf, to keep its id

    def intercept(
        self, operator: Operator, kind: str, arguments: tuple[Any, ...], out: Any = None
    ) -> Any:
        with ModeChange(intercept=self.outer):
            if _enabled.get() and kind != INPLACE and out is None:
                wanted = self._wanted(operator)
                if wanted is not None:
                    arguments = tuple(self._cast(value, wanted) for value in arguments)
            pairs = list(zip(operator.parameters, arguments, strict=True))
            keywords = {p.name: value for p, value in pairs if p.keyword_only}
            if out is not None:
                keywords["out"] = out
            positional = [value for p, value in pairs if not p.keyword_only]
            return form(operator, kind)(*positional, **keywords)

    def _wanted(self, operator: Operator) -> dtypes.dtype | None:
        policy = POLICIES.get(operator.name)
        return None if policy is None else _dtype.get() if policy == "lower" else dtypes.float32

    def _cast(self, value: Any, wanted: dtypes.dtype) -> Any:
        """Tensors of single or half precision in the dtype `wanted`; a leaf is cast once."""
        if isinstance(value, tuple | list):
            return type(value)([self._cast(item, wanted) for item in value])
        if not isinstance(value, Variable) or value.dtype not in (dtypes.float32, *SUPPORTED):
            return value
        if value.dtype is wanted:
            return value
        tensor: Any = value
        if value._edge is not LEAF or not _cache.get() or not get_mode().grad:
            return tensor.to(wanted)
        key = id(value), value._version, wanted
        if key not in self.copies:
            self.copies[key] = value, tensor.to(wanted)
        return self.copies[key][1]


class autocast:  # noqa: N801 - PyTorch's name
    """Within it, products of matrices and convolutions are computed in `dtype`, losses in float32.

    `dtype` is bfloat16 (the default, which needs the package ml_dtypes) or float16. Of the devices
    only "cpu" is there: for others a warning says that autocast is disabled. A context manager and
    a decorator; RuntimeError for names of devices that PyTorch does not know.

    >>> import gradfn
    >>> x = gradfn.ones(2, 2)
    >>> with autocast("cpu", dtype=gradfn.float16):
    ...     (x @ x).dtype, (x + x).dtype
    (torch.float16, torch.float32)
    """

    def __init__(
        self,
        device_type: str,
        dtype: dtypes.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{device_type}'"
            )
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = _cache.get() if cache_enabled is None else cache_enabled
        self._enabled = enabled and self._can_cast()
        self._undo: list[Callable[[], None]] = []

    def _can_cast(self) -> bool:
        if self.device != "cpu":
            warnings.warn(
                f"User provided device_type of '{self.device}', but {self.device.upper()} is not "
                "available. Disabling",
                stacklevel=3,
            )
            return False
        if self.fast_dtype not in SUPPORTED:
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                stacklevel=3,
            )
            return False
        return True

    def __enter__(self) -> autocast:
        if self.device != "cpu":
            self._undo.append(lambda: None)
            return self
        if self._enabled:
            _ = self.fast_dtype.numpy  # NotImplementedError at once where bfloat16 is not there
        casting: Any = _Casting() if self._enabled else nullcontext()
        casting.__enter__()
        tokens = (
            (_enabled, _enabled.set(self._enabled)),
            (_dtype, _dtype.set(self.fast_dtype)),
            (_cache, _cache.set(self._cache_enabled)),
        )

        def undo() -> None:
            for variable, token in tokens:
                variable.reset(token)  # type: ignore[arg-type]
            casting.__exit__(None, None, None)

        self._undo.append(undo)
        return self

    def __exit__(self, *exc: object) -> None:
        self._undo.pop()()

    def __call__(self, function: Any) -> Any:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return run


def autocast_here() -> Any:
    """A context in which operators are autocast as they are here, now."""
    if not _enabled.get():
        return autocast("cpu", dtypes.float16, enabled=False)
    return autocast("cpu", _dtype.get(), True, _cache.get())


def is_autocast_available(device_type: str) -> bool:
    """Whether PyTorch has autocast for this kind of device; RuntimeError for unknown names.

    >>> is_autocast_available("cpu")
    True
    """
    return device_type in DEVICES or Device(device_type).type in DEVICES


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether operators are autocast here on a kind of device, the GPU by default."""
    return device_type == "cpu" and _enabled.get()


def set_autocast_enabled(device_type: str, enabled: bool) -> None:
    """Not to be had: RuntimeError, unless `enabled` is what holds already. Use `autocast`."""
    if enabled != is_autocast_enabled(device_type):
        raise NotImplementedError(
            "set_autocast_enabled is not in gradfn: use torch.autocast as a context manager"
        )


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The dtype that an `autocast` for this kind of device computes in."""
    return _dtype.get() if device_type == "cpu" else dtypes.float16


def set_autocast_dtype(device_type: str, dtype: dtypes.dtype) -> None:
    """Choose the dtype that an `autocast` for the CPU computes in."""
    if device_type == "cpu":
        _dtype.set(dtype)


def is_autocast_cache_enabled() -> bool:
    """Whether an `autocast` keeps the copies of leaves that it has cast."""
    return _cache.get()


def custom_fwd(
    fwd: Callable[..., Any] | None = None,
    *,
    device_type: str,
    cast_inputs: dtypes.dtype | None = None,
) -> Any:
    """Decorate the `forward` of a custom function for use within `autocast`.

    With `cast_inputs` it runs with its floating-point tensors in that dtype, and not autocast.
    `custom_bwd` gives the `backward` the same treatment.
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def run(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        ctx._dtype = get_autocast_dtype(device_type)
        casting = is_autocast_enabled(device_type)
        ctx._fwd_used_autocast = casting and cast_inputs is None
        if not casting or cast_inputs is None:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*_in_dtype(args, cast_inputs), **_in_dtype(kwargs, cast_inputs))

    return run


def _in_dtype(value: Any, dtype: dtypes.dtype) -> Any:
    """`value`, the floating-point tensors within it in `dtype`, but for float64."""
    if isinstance(value, Variable):
        tensor: Any = value
        eligible = tensor.is_floating_point() and tensor.dtype is not dtypes.float64
        return tensor.to(dtype) if eligible else tensor
    if isinstance(value, dict):
        return {key: _in_dtype(item, dtype) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_in_dtype(item, dtype) for item in value])
    return value


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorate the `backward` of a custom function whose `forward` has `custom_fwd`: it runs
    autocast where that did."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def run(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        with autocast(device_type, ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(*args, **kwargs)

    return run
