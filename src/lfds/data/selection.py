"""Which rows of flat tensors a choice of graphs needs, found without a loop over graphs.

Rows are numpy's: on arrays as small as a batch it answers several times sooner than torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Numbers: TypeAlias = NDArray[np.int64]
Rows: TypeAlias = slice | Numbers
Choice: TypeAlias = int | slice | Tensor | NDArray[np.generic] | Sequence[int] | Sequence[bool]


@dataclass(frozen=True, slots=True)
class Picked:
    """The rows to take from graph-, node- and edge-level tensors, and the pointers they get."""

    graphs: Rows
    nodes: Rows
    edges: Rows
    ptr: Numbers
    edge_ptr: Numbers
    edge_counts: Numbers


def take(tensor: Tensor, rows: Rows) -> Tensor:
    """Return ``rows`` of ``tensor``: a view where they are contiguous, a copy otherwise."""
    if isinstance(rows, slice):
        return tensor[rows]
    return torch.from_numpy(tensor.numpy().take(rows, axis=0))


def pick(ptr: Tensor, edge_ptr: Tensor, graphs: Rows) -> Picked:
    """Find the rows of the chosen graphs.

    Args:
        ptr: Nodes of graph ``g`` are ``ptr[g]:ptr[g + 1]``.
        edge_ptr: Edges of node ``i`` are ``edge_ptr[i]:edge_ptr[i + 1]``.
        graphs: A slice of step 1, or graph numbers in any order, repeats allowed.
    """
    starts, edge_starts = ptr.numpy(), edge_ptr.numpy()
    if isinstance(graphs, slice):
        return _pick_contiguous(starts, edge_starts, graphs)
    first, last = starts.take(graphs), starts.take(graphs + 1)
    node_ptr = _pointers(last - first)
    nodes = _ranges(first, node_ptr)
    first_edge = edge_starts.take(first)
    edge_counts = edge_starts.take(last) - first_edge
    return Picked(
        graphs=graphs,
        nodes=nodes,
        edges=_ranges(first_edge, _pointers(edge_counts)),
        ptr=node_ptr,
        edge_ptr=_pointers(edge_starts.take(nodes + 1) - edge_starts.take(nodes)),
        edge_counts=edge_counts,
    )


def as_rows(choice: Choice, length: int) -> Rows:
    """Turn whatever may stand in brackets into a slice of step 1 or an array of graph numbers."""
    if isinstance(choice, slice):
        start, stop, step = choice.indices(length)
        if step == 1:
            return slice(start, max(start, stop))
        return np.arange(start, stop, step)
    numbers = np.asarray(choice)
    if numbers.ndim == 0 and numbers.dtype.kind in "iu":
        position = int(numbers) + length if numbers < 0 else int(numbers)
        if not 0 <= position < length:
            raise IndexError(f"graph {int(numbers)} of a set of {length}; use 0 to {length - 1}")
        return slice(position, position + 1)
    return _graph_numbers(numbers, length)


def _graph_numbers(choice: NDArray[np.generic], length: int) -> Numbers:
    if choice.ndim != 1:
        raise IndexError(f"graphs are chosen by one row of numbers, not by shape {choice.shape}")
    if choice.dtype == np.bool_:
        if len(choice) != length:
            raise IndexError(f"a mask of {len(choice)} for {length} graphs; give one value each")
        return np.flatnonzero(choice)
    if len(choice) == 0:
        return choice.astype(np.int64)
    if choice.dtype.kind not in "iu":
        raise IndexError("graphs are chosen by whole numbers or a mask")
    numbers = choice.astype(np.int64, copy=False)
    low, high = numbers.min(), numbers.max()
    if low < -length or high >= length:
        raise IndexError(f"graphs {low} to {high} of a set of {length}; use 0 to {length - 1}")
    return numbers if low >= 0 else np.where(numbers < 0, numbers + length, numbers)


def _pick_contiguous(starts: Numbers, edge_starts: Numbers, graphs: slice) -> Picked:
    chosen = starts[graphs.start : graphs.stop + 1]
    first, last = int(chosen[0]), int(chosen[-1])
    rows = edge_starts[first : last + 1]
    return Picked(
        graphs=graphs,
        nodes=slice(first, last),
        edges=slice(int(rows[0]), int(rows[-1])),
        ptr=chosen - first,
        edge_ptr=rows - rows[0],
        edge_counts=np.diff(edge_starts[chosen]),
    )


def _pointers(counts: Numbers) -> Numbers:
    """Return where each run begins when runs of ``counts`` rows are laid end to end."""
    ends = np.empty(len(counts) + 1, dtype=np.int64)
    ends[0] = 0
    counts.cumsum(out=ends[1:])
    return ends


def _ranges(starts: Numbers, ends: Numbers) -> Numbers:
    """Lay ranges that begin at ``starts`` end to end, so that they end at ``ends[1:]``."""
    rows = (starts - ends[:-1]).repeat(ends[1:] - ends[:-1])
    rows += np.arange(len(rows))
    return rows
