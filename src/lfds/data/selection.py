"""Which rows of flat tensors a choice of graphs needs, found without a loop over graphs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Rows: TypeAlias = slice | Tensor
Choice: TypeAlias = int | slice | Tensor | Sequence[int] | Sequence[bool]


@dataclass(frozen=True)
class Picked:
    """The rows to take from graph-, node- and edge-level tensors, and the pointers they get."""

    graphs: Rows
    nodes: Rows
    edges: Rows
    ptr: Tensor
    edge_ptr: Tensor
    edge_counts: Tensor


def take(tensor: Tensor, rows: Rows) -> Tensor:
    """Return ``rows`` of ``tensor``: a view where they are contiguous, a copy otherwise."""
    if isinstance(rows, slice):
        return tensor[rows]
    # On arrays as small as a batch, numpy answers sooner than torch.
    return torch.from_numpy(tensor.numpy().take(rows.numpy(), axis=0))


def pick(ptr: Tensor, edge_ptr: Tensor, graphs: Rows) -> Picked:
    """Find the rows of the chosen graphs.

    Args:
        ptr: Nodes of graph ``g`` are ``ptr[g]:ptr[g + 1]``.
        edge_ptr: Edges of node ``i`` are ``edge_ptr[i]:edge_ptr[i + 1]``.
        graphs: A slice of step 1, or graph numbers in any order, repeats allowed.
    """
    if isinstance(graphs, slice):
        return _pick_contiguous(ptr, edge_ptr, graphs)
    starts, edge_starts, chosen = ptr.numpy(), edge_ptr.numpy(), graphs.numpy()
    first, last = starts.take(chosen), starts.take(chosen + 1)
    node_ptr = _pointers(last - first)
    nodes = _ranges(first, node_ptr)
    first_edge = edge_starts.take(first)
    edge_counts = edge_starts.take(last) - first_edge
    degrees = edge_starts.take(nodes + 1) - edge_starts.take(nodes)
    return Picked(
        graphs=graphs,
        nodes=torch.from_numpy(nodes),
        edges=torch.from_numpy(_ranges(first_edge, _pointers(edge_counts))),
        ptr=torch.from_numpy(node_ptr),
        edge_ptr=torch.from_numpy(_pointers(degrees)),
        edge_counts=torch.from_numpy(edge_counts),
    )


def as_rows(choice: Choice, length: int) -> Rows:
    """Turn whatever may stand in brackets into a slice of step 1 or a tensor of graph numbers."""
    if isinstance(choice, int):
        position = choice + length if choice < 0 else choice
        if not 0 <= position < length:
            raise IndexError(f"graph {choice} of a set of {length}; use 0 to {length - 1}")
        return slice(position, position + 1)
    if isinstance(choice, slice):
        start, stop, step = choice.indices(length)
        if step == 1:
            return slice(start, max(start, stop))
        return torch.arange(length)[torch.tensor(range(start, stop, step), dtype=torch.int64)]
    return _graph_numbers(torch.as_tensor(choice), length)


def _graph_numbers(choice: Tensor, length: int) -> Tensor:
    if choice.ndim != 1:
        raise IndexError(f"graphs are chosen by one row of numbers, not by shape {choice.shape}")
    if choice.dtype == torch.bool:
        if len(choice) != length:
            raise IndexError(f"a mask of {len(choice)} for {length} graphs; give one value each")
        return choice.nonzero().squeeze(1)
    if len(choice) == 0:
        return choice.long()
    if choice.is_floating_point():
        raise IndexError("graphs are chosen by whole numbers or a mask, not by floats")
    numbers = choice.long()
    values = numbers.numpy()
    low, high = values.min(), values.max()
    if low < -length or high >= length:
        raise IndexError(f"graphs {low} to {high} of a set of {length}; use 0 to {length - 1}")
    return numbers if low >= 0 else torch.where(numbers < 0, numbers + length, numbers)


def _pick_contiguous(ptr: Tensor, edge_ptr: Tensor, graphs: slice) -> Picked:
    chosen = ptr[graphs.start : graphs.stop + 1]
    first, last = int(chosen[0]), int(chosen[-1])
    rows = edge_ptr[first : last + 1]
    first_edge, last_edge = int(rows[0]), int(rows[-1])
    return Picked(
        graphs=graphs,
        nodes=slice(first, last),
        edges=slice(first_edge, last_edge),
        ptr=chosen - first,
        edge_ptr=rows - first_edge,
        edge_counts=edge_ptr[chosen].diff(),
    )


def _pointers(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each run begins when runs of ``counts`` rows are laid end to end."""
    ends = np.empty(len(counts) + 1, dtype=np.int64)
    ends[0] = 0
    counts.cumsum(out=ends[1:])
    return ends


def _ranges(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Lay ranges that begin at ``starts`` end to end, so that they end at ``ends[1:]``."""
    rows = (starts - ends[:-1]).repeat(ends[1:] - ends[:-1])
    rows += np.arange(len(rows))
    return rows
