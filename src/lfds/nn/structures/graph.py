"""Slots that are the nodes of a graph: a path, a cycle, and any other of the user's own."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from lfds.nn.spatial import SpatialLayer
from lfds.nn.structures.base import Sketch, Structure, Symmetry

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np


class GraphStructure(Structure):
    """Slots with an adjacency among them."""

    @property
    @abstractmethod
    def adjacency(self) -> Float[Tensor, "slots slots"]:
        """The adjacency of the slots: symmetric and non-negative."""

    @abstractmethod
    def sum_of_neighbours(
        self, slots: Float[Tensor, "graphs slots channels"]
    ) -> Float[Tensor, "graphs slots channels"]:
        """Sum over the neighbours of each slot."""

    def add_neighbours(
        self,
        own: Float[Tensor, "graphs slots channels"],
        sent: Float[Tensor, "graphs slots channels"],
    ) -> Float[Tensor, "graphs slots channels"]:
        """Add to each slot what its neighbours send."""
        return own + self.sum_of_neighbours(sent)

    def laplacian(self) -> Float[Tensor, "slots slots"] | None:
        adjacency = self.adjacency
        return torch.diag(adjacency.sum(dim=1)) - adjacency

    def signal(self, slots: Float[Tensor, "graphs slots channels"]) -> tuple[Tensor, ...]:
        """The slots as they are, and their adjacency."""
        return slots, self.adjacency.to(slots)

    def sketch(self) -> Sketch:
        return Sketch("Graph", "graph", matrix=self.adjacency)

    @final
    def layer(self, channels: int) -> SpatialLayer:
        return SpatialLayer(channels, channels)


def normalized_rows(adjacency: Float[Tensor, "*graphs slots slots"]) -> Tensor:
    """Divide by the degrees: the sum over neighbours becomes their mean."""
    degree = adjacency.sum(dim=-1, keepdim=True)
    return adjacency / degree.clamp(min=1e-12)


@final
class Sequence(GraphStructure):
    """A path graph: the neighbours of a slot are the one before and the one after.

    Symmetry: reversing the path reverses the output.

    Args:
        num_slots: Length of the path.
    """

    def __init__(self, num_slots: int = 64) -> None:
        super().__init__(num_slots)

    @property
    def adjacency(self) -> Float[Tensor, "slots slots"]:
        right = torch.diag(torch.ones(self.num_slots - 1), diagonal=1)
        return right + right.T

    def sum_of_neighbours(
        self, slots: Float[Tensor, "graphs slots channels"]
    ) -> Float[Tensor, "graphs slots channels"]:
        from_right = F.pad(slots[:, 1:], (0, 0, 0, 1))
        from_left = F.pad(slots[:, :-1], (0, 0, 1, 0))
        return from_left + from_right

    def sketch(self) -> Sketch:
        return Sketch("Sequence", "line")

    def symmetries(self) -> Iterator[Symmetry]:
        yield Symmetry("reversed", torch.arange(self.num_slots).flip(0), self)


@final
class Loop(GraphStructure):
    """A cycle graph: every slot has two neighbours.

    Symmetry: rotating or mirroring the cycle does the same to the output.

    Args:
        num_slots: Length of the cycle, at least 3.
    """

    def __init__(self, num_slots: int = 64) -> None:
        super().__init__(num_slots)
        if num_slots < 3:
            raise ValueError(
                f"num_slots of Loop must be at least 3 for a slot to have two neighbours, "
                f"got {num_slots}; use Sequence({num_slots})"
            )

    @property
    def adjacency(self) -> Float[Tensor, "slots slots"]:
        right = torch.eye(self.num_slots).roll(1, dims=1)
        return right + right.T

    def sum_of_neighbours(
        self, slots: Float[Tensor, "graphs slots channels"]
    ) -> Float[Tensor, "graphs slots channels"]:
        return slots.roll(1, dims=1) + slots.roll(-1, dims=1)

    def sketch(self) -> Sketch:
        return Sketch("Loop", "circle")

    def symmetries(self) -> Iterator[Symmetry]:
        slots = torch.arange(self.num_slots)
        yield Symmetry("rotated by one", slots.roll(1), self)
        yield Symmetry("rotated by two", slots.roll(2), self)
        yield Symmetry("mirrored", slots.flip(0), self)


class SparseMatrix(Protocol):
    """The part of a SciPy sparse matrix or array that is used here."""

    def toarray(self) -> "np.ndarray": ...


@final
class LatentGraph(GraphStructure):
    """Any graph of your own: a tree, a ring of cliques, a small world.

    Symmetry: permuting the slots, in the graph and in the signal, permutes the output.

    Args:
        adjacency: Symmetric, non-negative [slots, slots]: a tensor, a NumPy array, a SciPy sparse
            matrix or a NetworkX graph (its nodes in their order, its ``weight`` where it has one).
        normalized: Aggregate by the mean over the neighbours instead of their sum.

    Example:
        >>> import networkx as nx
        >>> LatentGraph(nx.balanced_tree(2, 3))
        LatentGraph(15 slots, 14 edges)
    """

    def __init__(
        self,
        adjacency: "Tensor | np.ndarray | SparseMatrix | nx.Graph",
        *,
        normalized: bool = False,
    ) -> None:
        matrix = _as_matrix(adjacency)
        check_adjacency(matrix)
        super().__init__(matrix.shape[0])
        self.normalized = normalized
        self.matrix: Tensor
        self.register_buffer("matrix", matrix)

    @property
    def adjacency(self) -> Float[Tensor, "slots slots"]:
        return self.matrix

    def sum_of_neighbours(
        self, slots: Float[Tensor, "graphs slots channels"]
    ) -> Float[Tensor, "graphs slots channels"]:
        weights = normalized_rows(self.matrix) if self.normalized else self.matrix
        return weights.to(slots.dtype) @ slots

    def symmetries(self) -> Iterator[Symmetry]:
        order = torch.arange(self.num_slots).flip(0).roll(1)
        permuted = LatentGraph(self.matrix[order][:, order], normalized=self.normalized)
        yield Symmetry("permuted", order, permuted)

    def extra_repr(self) -> str:
        if self.matrix.is_meta:
            return super().extra_repr()
        return f"{self.num_slots} slots, {int(self.matrix.triu().count_nonzero())} edges"


def _as_matrix(adjacency: object) -> Tensor:
    if isinstance(adjacency, Tensor):
        dense = adjacency.to_dense() if adjacency.layout != torch.strided else adjacency
        return _real(dense).detach().clone().to(torch.get_default_dtype())
    if hasattr(adjacency, "toarray"):
        adjacency = adjacency.toarray()
    elif hasattr(adjacency, "adjacency") and hasattr(adjacency, "nodes"):
        adjacency = _from_networkx(adjacency)
    try:
        return _real(torch.as_tensor(adjacency)).to(torch.get_default_dtype(), copy=True)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(
            "adjacency must be a square of numbers: a tensor, a NumPy array, a SciPy sparse "
            f"matrix or a NetworkX graph, got {type(adjacency).__name__} ({error})"
        ) from None


def _from_networkx(graph: Any) -> object:
    import networkx as nx

    try:
        return nx.to_numpy_array(graph)
    except (TypeError, ValueError) as error:
        raise TypeError(f"adjacency must have numbers as edge weights ({error})") from None


def _real(matrix: Tensor) -> Tensor:
    if matrix.is_complex():
        raise TypeError("adjacency must be real, got complex numbers; take their .abs()")
    return matrix


def check_adjacency(matrix: Tensor) -> None:
    """A square, finite, symmetric, non-negative matrix."""
    if matrix.dim() != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"adjacency must be square [slots, slots], got {list(matrix.shape)}")
    if not matrix.isfinite().all():
        raise ValueError("adjacency must be finite; replace its NaN and infinite entries")
    if (matrix < 0).any():
        row, column = (matrix < 0).nonzero()[0].tolist()
        raise ValueError(
            f"adjacency must not be negative, got {float(matrix[row, column])} at "
            f"({row}, {column}); use its absolute values, or drop these edges"
        )
    if (matrix != matrix.T).any():
        row, column = (matrix != matrix.T).nonzero()[0].tolist()
        raise ValueError(
            f"adjacency must be symmetric, but ({row}, {column}) is "
            f"{float(matrix[row, column])} and ({column}, {row}) is "
            f"{float(matrix[column, row])}; a graph without directions: (A + A.T) / 2"
        )
