"""Parametrizations of weights: orthogonal matrices, spectral and weight normalisation."""

from __future__ import annotations

from typing import Any

from ...autograd.grad_mode import no_grad
from ...creation import eye, zeros_like
from ...missing import missing
from ...ops.arithmetic import add
from ...ops.comparison import allclose
from ...ops.joining import cat
from ...ops.matrix_functions import matrix_exp
from ...ops.products import mv, vdot
from ...ops.reflectors import geqrf, orgqr
from ...ops.solvers import linalg_solve
from ...ops.weights import _weight_norm, norm_except_dim
from ...queries import finfo
from ...sampling import randn
from ...tensor import Tensor
from ..functional import normalize
from ..modules.module import Module
from .parametrize import register_parametrization
from .spectral_norm import output_dim, outputs_first, power_iteration, random_direction

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _Orthogonal(Module):
    """A matrix with orthonormal columns (rows, if it is wide) from one without constraints.

    With a `base`, the result is the base turned by what the map gives: setting the parameter sets
    the base, and the map starts at the identity.
    """

    base: Any

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError(
                "The householder parametrization does not support complex tensors; take "
                '"matrix_exp" or "cayley"'
            )
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        wide = X.size(-2) < X.size(-1)
        X = X.mT if wide else X
        Q = self._reflections(X) if self.orthogonal_map == "householder" else self._turn(X)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if wide else Q

    def _reflections(self, X: Any) -> Any:
        """The product of the reflections along the columns below the diagonal."""
        A = X.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (A * A).sum(dim=-2))
        Q = orgqr(A, tau)
        return Q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    def _turn(self, X: Any) -> Any:
        """What the skew-symmetric matrix of the lower triangle generates, its first columns."""
        n, k = X.shape[-2:]
        X = X.tril()
        if n != k:
            X = cat([X, X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)], -1)
        A = X - X.mH
        Q: Any
        if self.orthogonal_map == "matrix_exp":
            Q = matrix_exp(A)
        else:
            one = eye(n, dtype=A.dtype)
            Q = linalg_solve(add(one, A, alpha=-0.5), add(one, A, alpha=0.5))
        return Q if n == k else Q[..., :k]

    def right_inverse(self, Q: Any) -> Any:
        """What gives `Q`: the identity, with `Q` as the base, or its reflections."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {Q.shape}."
            )
        with no_grad():
            wide = Q.size(-2) < Q.size(-1)
            tall = Q.mT if wide else Q
            if hasattr(self, "base"):
                self.base = _completed(tall)
                start = zeros_like(Q)
                start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
                return start
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley "
                    "parametrizations when use_trivialization=False."
                )
            A, tau = geqrf(tall)
            signs = A.diagonal(dim1=-2, dim2=-1)
            signs.sign_()
            signs[tau == 0.0] *= -1
            return A.mT if wide else A


def _completed(Q: Any) -> Any:
    """The columns of `Q`, made orthonormal if they are not, and as many more as make it square."""
    n, k = Q.shape[-2:]
    if n != k:
        return _orthonormal(cat([Q, randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype)], -1))
    gram, epsilon = Q.mH @ Q, 10 * n * finfo(Q.dtype).eps
    if allclose(gram, eye(k, dtype=Q.dtype), atol=epsilon):
        return Q.clone()
    return _orthonormal(Q)


def _orthonormal(A: Any) -> Any:
    """The orthonormal factor of `A` for which the diagonal of the other one is positive."""
    X, tau = geqrf(A)
    return orgqr(X, tau) * X.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Let a matrix of the module, or batch of them, have orthonormal columns, or rows if wide.

    `orthogonal_map` is "matrix_exp", "cayley" or "householder"; the first for square and complex
    matrices and the last for others, unless given. Without `use_trivialization`, only the last can
    be assigned to. Returns the module; ValueError for other tensors and maps. As
    `torch.nn.utils.parametrizations.orthogonal`.

    >>> from gradfn import allclose, eye, nn
    >>> weight = orthogonal(nn.Linear(4, 3)).weight
    >>> allclose(weight @ weight.T, eye(3), atol=1e-6)
    True
    """
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)


def _tensor_of(module: Module, name: str) -> Any:
    tensor = getattr(module, name, None)
    if not isinstance(tensor, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return tensor


class _WeightNorm(Module):
    """``g * v / |v|`` from a length g and a direction v, for each slice along `dim`."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return _weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> tuple[Any, Any]:
        """The lengths, and the weight itself."""
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learn the lengths of a weight's slices along `dim` apart from their directions.

    They are ``parametrizations.<name>.original0`` and ``original1``; one length of all for None. A
    state of the old `torch.nn.utils.weight_norm` is taken as well. Returns the module. Salimans
    and Kingma (2016). As `torch.nn.utils.parametrizations.weight_norm`.

    >>> from gradfn import nn
    >>> weight_norm(nn.Linear(20, 40)).parametrizations.weight.original0.shape
    torch.Size([40, 1])
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict: Any, prefix: str, *rest: Any) -> None:
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for number, key in enumerate(old):
                new = f"{prefix}parametrizations.{name}.original{number}"
                state_dict[new] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """A weight over its largest singular value, which power iterations follow in training."""

    _u: Any
    _v: Any

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got "
                f"{dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = outputs_first(weight, self.dim).flatten(1)
            self.register_buffer("_u", random_direction(matrix, matrix.size(0), eps))
            self.register_buffer("_v", random_direction(matrix, matrix.size(1), eps))
            power_iteration(matrix, self._u, self._v, eps, 15)

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = outputs_first(weight, self.dim).flatten(1)
        if self.training:
            power_iteration(matrix, self._u, self._v, self.eps, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # the buffers change before the backward pass
        return weight / vdot(u, mv(matrix, v))

    def right_inverse(self, value: Any) -> Any:
        """The weight itself."""
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight, as a matrix with the rows `dim`, by its largest singular value.

    Each reading of it while training makes `n_power_iterations` steps towards that value. `dim` is
    that of the outputs, unless given. Returns the module; ValueError where there is no such tensor.
    Miyato et al. (2018). As `torch.nn.utils.parametrizations.spectral_norm`.

    >>> from gradfn import linalg, nn
    >>> layer = spectral_norm(nn.Linear(20, 40), n_power_iterations=100)
    >>> round(linalg.matrix_norm(layer.weight, 2).item(), 2)
    1.0
    """
    weight = _tensor_of(module, name)
    dim = output_dim(module) if dim is None else dim
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return register_parametrization(module, name, made)


__getattr__ = missing(__name__)
