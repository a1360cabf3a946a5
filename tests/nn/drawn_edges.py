"""A pooling of the comparison as the laws of `lfds.testing` call one, on edges drawn from x."""

import torch
from torch import Tensor, nn

from lfds.nn.baselines.base import GraphPooling
from lfds.nn.ops.edges import Edges
from lfds.nn.ops.ragged import ragged


def edges_of(x: Tensor, ptr: Tensor, both_ways: bool = False) -> Edges:
    """Directed edges, from j to i by what they hold: they follow the nodes wherever these move."""
    index = torch.repeat_interleave(ptr.diff())
    x = x.detach()
    adjacency = (x[:, None, 0] + x[None, :, 1] > 0) & (index[:, None] == index)
    adjacency = adjacency | adjacency.T if both_ways else adjacency
    target, source = adjacency.fill_diagonal_(False).nonzero(as_tuple=True)
    return Edges.from_index(torch.stack([source, target]), len(x))


class OnDrawnEdges(nn.Module):
    def __init__(self, pool: GraphPooling, both_ways: bool = False) -> None:
        super().__init__()
        self.pool, self.channels, self.both_ways = pool, pool.channels, both_ways

    def forward(self, x: Tensor, index: Tensor, *, dim_size: int) -> Tensor:
        batch = ragged(x, index, None, dim_size)
        return self.pool(batch.x, batch.ptr, edges_of(batch.x, batch.ptr, self.both_ways))
