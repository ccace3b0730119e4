"""Embeddings: rows of a table that is learned."""

from __future__ import annotations

from typing import Any, Self

from ...creation import empty
from ...missing import missing
from ...tensor import Tensor
from .. import functional, init
from ..parameter import Parameter
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """A matrix of rows that are picked by number, one of which may be the padding."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None

    def _set_table(self, given: Any, requires_grad: bool, device: Any, dtype: Any) -> None:
        shape = (self.num_embeddings, self.embedding_dim)
        if given is not None and given.shape != shape:
            raise AssertionError(
                "Shape of weight does not match num_embeddings and embedding_dim: it is "
                f"{list(given.shape)}, not {list(shape)}"
            )
        table = empty(shape, device=device, dtype=dtype) if given is None else given
        self.weight = Parameter(table, requires_grad=requires_grad)
        if given is None:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the rows anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])


def _row(padding_idx: int | None, rows: int, name: str = "padding_idx") -> int | None:
    """The number of the row `padding_idx`, counted from the first one."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(
            f"{name} must be within num_embeddings: it is {padding_idx}, with {rows} rows"
        )
    return padding_idx % rows


def _check_matrix(embeddings: Tensor) -> None:
    if embeddings.dim() != 2:
        raise AssertionError(
            "Embeddings parameter is expected to be 2-dimensional, but it has shape "
            f"{list(embeddings.shape)}"
        )


class Embedding(_Table):
    """The rows of `weight` with the numbers in the input: `torch.nn.Embedding`.

    Shapes: (*) of integers to (*, embedding_dim). The rows start normally distributed; the row
    `padding_idx` starts at 0 and gets no gradient. With `max_norm`, rows are scaled down to that
    norm when they are used. Raises AssertionError where `padding_idx` is no row.

    >>> from gradfn import nn, tensor
    >>> nn.Embedding(10, 3)(tensor([[1, 2], [4, 5]])).shape
    torch.Size([2, 2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = _row(padding_idx, num_embeddings, "Padding_idx")
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        self._set_table(_weight, not _freeze, device, dtype)

    def forward(self, input: Tensor) -> Any:
        return functional.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return text + (", sparse=True" if self.sparse else "")

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """An Embedding over the rows of the matrix `embeddings`; not trained if `freeze`."""
        _check_matrix(embeddings)
        rows, columns = embeddings.shape
        return cls(
            rows,
            columns,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight=embeddings,
            _freeze=freeze,
        )


class EmbeddingBag(_Table):
    """The sum, mean or maximum of the rows of `weight` in each bag: `torch.nn.EmbeddingBag`.

    `forward` takes the numbers, where the bags start, and weights of the rows: see
    `functional.embedding_bag`. The row `padding_idx` starts at 0 and does not count.

    >>> from gradfn import nn, tensor
    >>> nn.EmbeddingBag(10, 3, mode="sum")(tensor([1, 2, 4, 5]), tensor([0, 3])).shape
    torch.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = _row(padding_idx, num_embeddings)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset
        self._set_table(_weight, True, device, dtype)

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Any:
        return functional.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        text += f", mode={self.mode!r}"
        return text + ("" if self.padding_idx is None else f", padding_idx={self.padding_idx}")

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """An EmbeddingBag over the rows of the matrix `embeddings`; not trained if `freeze`."""
        _check_matrix(embeddings)
        rows, columns = embeddings.shape
        made = cls(
            rows,
            columns,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            _weight=embeddings,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        made.weight.requires_grad = not freeze
        return made


__getattr__ = missing(__name__)
