"""Which rows of flat tensors a choice of graphs needs, found without a loop over graphs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
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


def take(tensor: Tensor, rows: Rows) -> Tensor:
    """Return ``rows`` of ``tensor``: a view where they are contiguous, a copy otherwise."""
    return tensor[rows] if isinstance(rows, slice) else tensor.index_select(0, rows)


def pick(ptr: Tensor, edge_ptr: Tensor, graphs: Rows) -> Picked:
    """Find the rows of the chosen graphs.

    Args:
        ptr: Nodes of graph ``g`` are ``ptr[g]:ptr[g + 1]``.
        edge_ptr: Edges of node ``i`` are ``edge_ptr[i]:edge_ptr[i + 1]``.
        graphs: A slice of step 1, or graph numbers in any order, repeats allowed.
    """
    if isinstance(graphs, slice):
        return _pick_contiguous(ptr, edge_ptr, graphs)
    first, last = ptr.index_select(0, graphs), ptr.index_select(0, graphs + 1)
    nodes = _ranges(first, last - first)
    degrees = edge_ptr.index_select(0, nodes + 1) - edge_ptr.index_select(0, nodes)
    first_edge, last_edge = edge_ptr.index_select(0, first), edge_ptr.index_select(0, last)
    return Picked(
        graphs=graphs,
        nodes=nodes,
        edges=_ranges(first_edge, last_edge - first_edge),
        ptr=pointers(last - first),
        edge_ptr=pointers(degrees),
    )


def pointers(counts: Tensor) -> Tensor:
    """Return where each run begins when runs of ``counts`` rows are laid end to end."""
    ends = counts.new_zeros(len(counts) + 1)
    torch.cumsum(counts, 0, out=ends[1:])
    return ends


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
    low, high = (int(bound) for bound in numbers.aminmax())
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
    )


def _ranges(starts: Tensor, lengths: Tensor) -> Tensor:
    """Lay the ranges ``start .. start + length`` end to end."""
    ends = lengths.cumsum(0)
    shift = (starts - ends + lengths).repeat_interleave(lengths)
    return shift.add_(torch.arange(len(shift)))
