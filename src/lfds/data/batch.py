"""A ragged batch: some graphs of a set concatenated, without padding.

The rows of flat tensors that belong to selected graphs are found without a loop over graphs, by
numpy, which is several times faster than torch on arrays as small as a batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Self, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lfds.data.edges import Ints

Rows: TypeAlias = slice | Ints
Indices: TypeAlias = int | slice | Tensor | NDArray[np.generic] | Sequence[int] | Sequence[bool]


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows of graph-, node- and edge-level tensors, and their new pointers."""

    graphs: Rows
    nodes: Rows
    edges: Rows
    ptr: Ints
    edge_ptr: Ints
    edge_counts: Ints


def take(tensor: Tensor, rows: Rows) -> Tensor:
    """Return ``rows`` of ``tensor``: a view where they are contiguous, a copy otherwise."""
    if isinstance(rows, slice):
        return tensor[rows]
    return torch.from_numpy(tensor.numpy().take(rows, axis=0))


def select(ptr: Tensor, edge_ptr: Tensor, graphs: Rows) -> Selection:
    """Return the rows of the selected graphs.

    Args:
        ptr: Nodes of graph ``g`` are ``ptr[g]:ptr[g + 1]``.
        edge_ptr: Edges of node ``i`` are ``edge_ptr[i]:edge_ptr[i + 1]``.
        graphs: A slice of step 1, or graph numbers in any order, repeats allowed.
    """
    starts, edge_starts = ptr.numpy(), edge_ptr.numpy()
    if isinstance(graphs, slice):
        return _select_contiguous(starts, edge_starts, graphs)
    first, last = starts.take(graphs), starts.take(graphs + 1)
    node_ptr = pointers(last - first)
    nodes = ranges(first, node_ptr)
    first_edge = edge_starts.take(first)
    edge_counts = edge_starts.take(last) - first_edge
    return Selection(
        graphs=graphs,
        nodes=nodes,
        edges=ranges(first_edge, pointers(edge_counts)),
        ptr=node_ptr,
        edge_ptr=pointers(edge_starts.take(nodes + 1) - edge_starts.take(nodes)),
        edge_counts=edge_counts,
    )


def as_rows(indices: Indices, length: int) -> Rows:
    """Return any index of a set as a slice of step 1 or an array of graph numbers."""
    if isinstance(indices, slice):
        start, stop, step = indices.indices(length)
        if step == 1:
            return slice(start, max(start, stop))
        return np.arange(start, stop, step)
    numbers = np.asarray(indices)
    if numbers.ndim == 0 and numbers.dtype.kind in "iu":
        position = int(numbers) + length if numbers < 0 else int(numbers)
        if not 0 <= position < length:
            raise IndexError(f"graph {int(numbers)} is out of range; use 0 to {length - 1}")
        return slice(position, position + 1)
    return _graph_numbers(numbers, length)


def _graph_numbers(given: NDArray[np.generic], length: int) -> Ints:
    if given.ndim != 1:
        raise IndexError(f"indices of graphs need one dimension, not shape {given.shape}")
    if given.dtype == np.bool_:
        if len(given) != length:
            raise IndexError(f"a mask of {length} graphs needs {length} values, not {len(given)}")
        return np.flatnonzero(given)
    if len(given) == 0:
        return given.astype(np.int64)
    if given.dtype.kind not in "iu":
        raise IndexError(f"indices of graphs need whole numbers or a mask, not {given.dtype}")
    numbers = given.astype(np.int64, copy=False)
    low, high = numbers.min(), numbers.max()
    if low < -length or high >= length:
        raise IndexError(f"graphs {low} to {high} are out of range; use 0 to {length - 1}")
    return numbers if low >= 0 else np.where(numbers < 0, numbers + length, numbers)


def _select_contiguous(starts: Ints, edge_starts: Ints, graphs: slice) -> Selection:
    ptr = starts[graphs.start : graphs.stop + 1]
    first, last = int(ptr[0]), int(ptr[-1])
    rows = edge_starts[first : last + 1]
    return Selection(
        graphs=graphs,
        nodes=slice(first, last),
        edges=slice(int(rows[0]), int(rows[-1])),
        ptr=ptr - first,
        edge_ptr=rows - rows[0],
        edge_counts=np.diff(edge_starts[ptr]),
    )


def pointers(counts: Ints) -> Ints:
    """Return where each run begins when runs of ``counts`` rows are concatenated."""
    ends = np.empty(len(counts) + 1, dtype=np.int64)
    ends[0] = 0
    counts.cumsum(out=ends[1:])
    return ends


def ranges(starts: Ints, ends: Ints) -> Ints:
    """Return the concatenated ranges that begin at ``starts`` and end at ``ends[1:]``."""
    rows = (starts - ends[:-1]).repeat(ends[1:] - ends[:-1])
    rows += np.arange(len(rows))
    return rows


@dataclass(frozen=True)
class Batch:
    """Some graphs as one disconnected graph.

    Attributes:
        x: Node features, ``[nodes, features]``.
        ptr: Nodes of graph ``b`` of the batch are ``ptr[b]:ptr[b + 1]``.
        edge_ptr: Row pointers of the edges in CSR form, one row per node of the batch.
        edge_dst: For each row ``i`` the nodes from which ``i`` receives, numbered in the batch.
        y: Targets, one row per graph.
        edge_attributes: One row per edge, in the order of ``edge_dst``; width 0 where none.
        edge_labels: Likewise, for labels.
        edge_x: Likewise, for the features that networks use.
    """

    x: Tensor
    ptr: Tensor
    edge_ptr: Tensor
    edge_dst: Tensor
    y: Tensor
    edge_attributes: Tensor
    edge_labels: Tensor
    edge_x: Tensor

    def __len__(self) -> int:
        return len(self.ptr) - 1

    @property
    def index(self) -> Tensor:
        """The graph of each node, which PyG calls ``batch``."""
        return torch.repeat_interleave(self.ptr.diff())

    @property
    def edge_index(self) -> Tensor:
        """Edges as in PyG, ``[2, edges]``: senders above receivers."""
        return torch.stack([self.edge_dst, torch.repeat_interleave(self.edge_ptr.diff())])

    def to(self, device: torch.device | str) -> Self:
        """Return the batch on ``device``; itself if it is there already."""
        moved = {entry.name: getattr(self, entry.name).to(device) for entry in fields(self)}
        unmoved = all(tensor is getattr(self, name) for name, tensor in moved.items())
        return self if unmoved else replace(self, **moved)


def assemble(
    rows: Selection,
    x: Tensor,
    edge_dst: Tensor,
    y: Tensor,
    edge_attributes: Tensor,
    edge_labels: Tensor,
    edge_x: Tensor,
) -> Batch:
    """Return a batch of selected rows of the tensors of a set; edges are renumbered."""
    edges = rows.ptr[:-1].repeat(rows.edge_counts)
    edges += take(edge_dst, rows.edges).numpy()
    return Batch(
        x=take(x, rows.nodes),
        ptr=torch.from_numpy(rows.ptr),
        edge_ptr=torch.from_numpy(rows.edge_ptr),
        edge_dst=torch.from_numpy(edges),
        y=take(y, rows.graphs),
        edge_attributes=_edge_rows(edge_attributes, rows, len(edges)),
        edge_labels=_edge_rows(edge_labels, rows, len(edges)),
        edge_x=_edge_rows(edge_x, rows, len(edges)),
    )


def _edge_rows(table: Tensor, rows: Selection, length: int) -> Tensor:
    # Most sets have no edge features: skip the gather.
    return take(table, rows.edges) if table.shape[1] else table.new_empty(length, 0)
