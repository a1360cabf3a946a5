"""What the tests of `lfds.nn` and `lfds.testing` run on: every structure, every pooling, edges."""

from functools import partial

import torch
from torch import Tensor, nn

import lfds
from lfds.config.registry import POOLINGS, entry_of
from lfds.nn import Edges, GraphPooling, NetworkSettings, Structure
from lfds.nn.ops.ragged import ragged

SMALL = {
    "width": 8,
    "head_width": 8,
    "slots": 16,  # a square number, of a side with an interior
    "clusters": 5,
    "sorted_nodes": 10,
    "heads": 2,
    "seeds": 3,
}


def small_settings(pool: str, **options) -> NetworkSettings:
    return NetworkSettings(pool=pool, **{**SMALL, **options})


def named_structure(name: str) -> Structure:
    """A small structure of the registry."""
    return lfds.STRUCTURES[name].from_settings(small_settings(name))


STRUCTURES = {name: partial(named_structure, name) for name in lfds.STRUCTURES}
"""How to build a small structure of every name of the registry: all tests run on all of them."""

VARIANTS = {
    "image-5x4": lambda: lfds.Image(5, 4),
    "learned-spatial-sum": lambda: lfds.LearnedGraph(4),
    "learned-spectral-exact": lambda: lfds.LearnedSpectrum(4, orthonormal="exact"),
    "latent-graph": lambda: lfds.LatentGraph(torch.ones(4, 4)),
    "latent-graph-mean": lambda: lfds.LatentGraph(torch.ones(4, 4), normalized=True),
}
"""Structures with options that no name of the registry has."""


def named_pooling(name: str, **options) -> GraphPooling:
    """A small pooling of the registry, with the parameters of a fixed seed."""
    torch.manual_seed(0)
    return entry_of(name).load().from_settings(small_settings(name, **options))


POOLING_NAMES = tuple(POOLINGS)


def directed_edges(x: Tensor, ptr: Tensor, symmetric: bool = False) -> Edges:
    """Edges that depend on the features of their two nodes, so that they move with the nodes."""
    index = torch.repeat_interleave(ptr.diff())
    x = x.detach()
    adjacency = (x[:, None, 0] + x[None, :, 1] > 0) & (index[:, None] == index)
    adjacency = adjacency | adjacency.T if symmetric else adjacency
    target, source = adjacency.fill_diagonal_(False).nonzero(as_tuple=True)
    return Edges.from_index(torch.stack([source, target]), len(x))


def dense_matrix(edges: Edges) -> Tensor:
    """The adjacency, entry [i, j] for the edge from j to i."""
    matrix = torch.zeros(edges.num_nodes, edges.num_nodes, dtype=edges.rows.weight.dtype)
    return matrix.index_put((edges.target, edges.rows.column.long()), edges.rows.weight, True)


def no_edges(num_nodes: int) -> Edges:
    return Edges.from_rows(torch.zeros(num_nodes + 1).long(), torch.zeros(0).long())


class AsAggregation(nn.Module):
    """A pooling of the comparison, called as `lfds.testing` calls one, on `directed_edges`."""

    def __init__(self, pool: GraphPooling, symmetric: bool = False) -> None:
        super().__init__()
        self.pool, self.in_channels, self.symmetric = pool, pool.in_channels, symmetric

    def forward(self, x: Tensor, index: Tensor, *, dim_size: int) -> Tensor:
        batch = ragged(x, index, None, dim_size)
        edges = directed_edges(batch.x, batch.ptr, self.symmetric)
        return self.pool(batch.x, batch.ptr, edges)
