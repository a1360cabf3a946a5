"""A ragged batch: the nodes of all graphs in one matrix, graph after graph, and where each begins.

There is no padding anywhere in ``lfds``: a batch is ``x`` [nodes, channels] with ``ptr``
[graphs + 1], and the nodes of graph ``g`` are the rows ``ptr[g]`` to ``ptr[g + 1]``.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from lfds.nn.accel.dispatch import (
    is_exported,
    is_traced,
    only_basic_operations,
    values_may_be_read,
)
from lfds.nn.input_checks import (
    check_agreement,
    check_index,
    check_index_shape,
    check_num_graphs,
    check_padded,
    check_ptr,
    check_weight,
)


class Ragged(NamedTuple):
    """Nodes sorted by graph.

    Attributes:
        x: Node features, graph after graph.
        ptr: Row of ``x`` at which each graph begins, then the number of rows.
        order: The row of the input that each row of ``x`` was, or None if nothing was moved.
        weight: How much of every node there is, or None for one of each.
    """

    x: Float[Tensor, "nodes channels"]
    ptr: Int[Tensor, "boundaries"]
    order: Int[Tensor, "nodes"] | None
    weight: Float[Tensor, "nodes"] | None = None


def ragged(
    x: Float[Tensor, "nodes channels"],
    index: Tensor | None = None,
    ptr: Tensor | None = None,
    num_graphs: int | None = None,
    weight: Tensor | None = None,
) -> Ragged:
    """Convert a batch as PyG writes it to the one form used inside ``lfds``.

    Args:
        x: Node features.
        index: Graph of every node, in any order.
        ptr: Where each graph begins; the nodes are then in order.
        num_graphs: Number of graphs; by default one more than the largest of ``index``.
            Without ``index`` and ``ptr`` all nodes are one graph.
        weight: How much of every node there is; one of each by default.
    """
    check_num_graphs(num_graphs)
    if weight is not None:
        check_weight(weight, x)
    if ptr is not None:
        check_ptr(ptr, x.shape[0], num_graphs)
        if index is not None:
            check_index_shape(index, x.shape[0])
            if values_may_be_read(index):
                check_agreement(index, ptr)
        return Ragged(x, ptr.long(), None, weight)
    if index is None:
        index = x.new_zeros(x.shape[0], dtype=torch.long)
        num_graphs = 1 if num_graphs is None else num_graphs
    check_index(index, x.shape[0], num_graphs)
    if num_graphs is None:
        num_graphs = count_graphs(index)
    return _sort_by_graph(x, index.long(), num_graphs, weight)


def count_graphs(index: Tensor) -> int:
    """One more than the largest graph of ``index``."""
    if is_exported():
        raise ValueError(
            "dim_size must be given while exporting: the number of graphs cannot be read from "
            "index there; pass dim_size=num_graphs or ptr"
        )
    if is_traced():
        # Not at the top: it imports the compiler, which takes more than a second.
        from lfds.nn.ops.untraced import read_count

        return read_count(index)
    return largest_and_one(index)


def largest_and_one(index: Tensor) -> int:
    """One more than the largest entry; 0 if there is none."""
    return int(index.max()) + 1 if index.numel() else 0


def _sort_by_graph(x: Tensor, index: Tensor, num_graphs: int, weight: Tensor | None) -> Ragged:
    if values_may_be_read(index) and bool((index[1:] >= index[:-1]).all()):
        return Ragged(x, ptr_from_index(index, num_graphs), None, weight)
    if torch.onnx.is_in_onnx_export():  # ONNX has no stable sort
        index, order = torch.sort(index)
    else:  # a graph's nodes keep their order, so that sums round the same in every batch
        index, order = torch.sort(index, stable=True)
    weight = None if weight is None else weight[order]
    return Ragged(x[order], ptr_from_index(index, num_graphs), order, weight)


def ragged_from_dense(
    x: Float[Tensor, "graphs most channels"], mask: Bool[Tensor, "graphs most"] | None = None
) -> tuple[Float[Tensor, "nodes channels"], Int[Tensor, "graphs+1"]]:
    """Take the nodes out of a padded batch: their features, and where each graph begins.

    Args:
        x: Node features, one row of nodes for each graph.
        mask: Which of them are nodes; all by default. The others are not read.
    """
    check_padded(x, mask)
    if mask is None:
        ends = torch.arange(x.shape[0] + 1, device=x.device) * x.shape[1]
        return x.flatten(0, 1), ends
    return x[mask], F.pad(mask.sum(dim=1).cumsum(0), (1, 0))


def ptr_from_index(index: Int[Tensor, "nodes"], num_graphs: int) -> Int[Tensor, "{num_graphs}+1"]:
    """Where each graph begins, from a sorted ``index``."""
    starts = torch.arange(num_graphs + 1, device=index.device)
    if only_basic_operations():  # ONNX has no searchsorted
        return (index[:, None] < starts).sum(dim=0)
    return torch.searchsorted(index, starts)


def index_from_ptr(ptr: Int[Tensor, "boundaries"], num_nodes: int) -> Int[Tensor, "{num_nodes}"]:
    """The graph of every node, from where each graph begins."""
    nodes = torch.arange(num_nodes, device=ptr.device)
    if only_basic_operations():
        return (nodes[:, None] >= ptr[1:]).sum(dim=1)
    return torch.searchsorted(ptr, nodes, right=True) - 1


def runs_of_nodes(ptr: Int[Tensor, "boundaries"], most: int, each: int = 0) -> Iterator[slice]:
    """Cut graphs into runs of at most ``most`` nodes; a graph that is larger stands alone.

    Args:
        ptr: Where each graph begins.
        most: How many nodes.
        each: What every graph counts in addition to its nodes.

    >>> list(runs_of_nodes(torch.tensor([0, 2, 3, 9, 10]), 4))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    ends = ptr.numpy() + each * np.arange(len(ptr))
    start, count = 0, len(ends) - 1
    while start < count:
        stop = int(np.searchsorted(ends, ends[start] + most, side="right")) - 1
        stop = min(max(stop, start + 1), count)
        yield slice(start, stop)
        start = stop


def sum_by_graph(
    rows: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"]
) -> Float[Tensor, "boundaries-1 channels"]:
    """Sum the nodes of every graph in basic operations: for ONNX files and ``torch.func``."""
    graph = index_from_ptr(ptr, rows.shape[0])[:, None].expand_as(rows)
    # Not `index_add`: onnxruntime adds the rows of what that becomes in parallel, and loses some.
    return rows.new_zeros(ptr.shape[0] - 1, rows.shape[1]).scatter_add(0, graph, rows)
