"""Features with further dimensions, [*, nodes, channels], as one ragged batch.

PyG's message passing has such features where nodes have several heads or towers. Every entry of the
further dimensions is a copy of the graphs with features of its own.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from lfds.nn.input_checks import check_agreement, check_index, check_ptr
from lfds.nn.ops.ragged import count_graphs


@dataclass(frozen=True)
class Stacked:
    """What :class:`~lfds.LFDSPool` is called with, and the shape that its output gets.

    Attributes:
        x: Node features [copies * nodes, channels].
        index: Graph of every node, or None where ``ptr`` is given.
        ptr: Where each graph begins, or None where ``index`` is given.
        num_graphs: Number of graphs of all copies.
        shape: The further dimensions, then the graphs of one copy.
        dim: The dimension in which the graphs are to be.
    """

    x: Tensor
    index: Tensor | None
    ptr: Tensor | None
    num_graphs: int
    shape: tuple[int, ...]
    dim: int

    def restore(self, vectors: Tensor) -> Tensor:
        """Give the vectors of all graphs the dimensions of the input."""
        moved = vectors.view(*self.shape, vectors.shape[1]).movedim(-2, self.dim)
        return moved.contiguous()  # GATConv takes a view of it


def stacked(
    x: Tensor, index: Tensor | None, ptr: Tensor | None, num_graphs: int | None, dim: int
) -> Stacked:
    """Convert features [*, nodes, channels], the nodes in dimension ``dim``."""
    rows = x.movedim(dim, -2)
    nodes, copies = rows.shape[-2], rows.shape[:-2].numel()
    which = torch.arange(copies, device=x.device)[:, None]
    ends = None
    if ptr is not None:
        check_ptr(ptr, nodes, num_graphs)
        if index is not None:
            check_index(index, nodes, None)
            check_agreement(index, ptr)
        num_graphs, index = ptr.shape[0] - 1, None
        ends = pad((ptr[1:].long() + nodes * which).flatten(), (1, 0))
    else:
        if index is None:
            index, num_graphs = torch.zeros(nodes, dtype=torch.long, device=x.device), 1
        check_index(index, nodes, num_graphs)
        num_graphs = count_graphs(index) if num_graphs is None else num_graphs
        index = (index.long() + num_graphs * which).flatten()
    return Stacked(
        x=rows.reshape(copies * nodes, rows.shape[-1]),
        index=index,
        ptr=ends,
        num_graphs=copies * num_graphs,
        shape=(*rows.shape[:-2], num_graphs),
        dim=dim,
    )
