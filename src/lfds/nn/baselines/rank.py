"""Rank pooling: the nodes of highest score stay, with the edges between them (Top-K, SAG)."""

from typing import Literal, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lfds.config.network import NetworkSettings
from lfds.nn.accel.dispatch import is_traced
from lfds.nn.baselines.base import GraphPooling
from lfds.nn.ops.edges import Edges
from lfds.nn.ops.ragged import index_from_ptr
from lfds.nn.ops.segment import ragged_max
from lfds.nn.ops.spmm import sum_of_neighbours
from lfds.nn.spatial import SpatialLayer


@final
class RankPool(GraphPooling):
    r"""One down-sampling by score, two spatial layers after it, and their maxima.

    .. math::
        \mathbf{x}_i \leftarrow \tanh(s_i) \mathbf{x}_i
        \quad \text{for the } \lceil r n \rceil \text{ nodes of highest } s_i

    ``topk`` (Gao and Ji, *Graph U-Nets*) scores a node by itself,
    :math:`s_i = \mathbf{x}_i^\top \mathbf{p} / \lVert \mathbf{p} \rVert`;
    ``sag`` (Lee et al., *Self-Attention Graph Pooling*) by its neighbours too,
    :math:`s_i = \mathbf{x}_i^\top \mathbf{p} + \sum_j a_{ij} \mathbf{x}_j^\top \mathbf{q} + b`.

    Which of several nodes of the very same score stay depends on their order.

    Args:
        channels: Width of the nodes.
        ratio: Part of the nodes that stay.
        score: How nodes are scored.
    """

    @classmethod
    def from_settings(cls, settings: NetworkSettings) -> "RankPool":
        return cls(settings.width, settings.ratio, "sag" if settings.pool == "sag" else "topk")

    def __init__(
        self, channels: int, ratio: float = 0.5, score: Literal["topk", "sag"] = "topk"
    ) -> None:
        super().__init__(channels, 2 * channels)
        self.ratio = ratio
        self.score = DirectionScore(channels) if score == "topk" else NeighbourScore(channels)
        self.layers = nn.ModuleList(SpatialLayer(channels, channels) for _ in range(2))

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 out_channels"]:
        x, ptr, edges = self.down_sample(nodes, ptr, edges)
        vectors = []
        for layer in self.layers:
            x = layer(x, edges)
            vectors.append(ragged_max(x, ptr))
        return torch.cat(vectors, dim=1)

    def down_sample(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> tuple[Tensor, Tensor, Edges]:
        """The nodes that are kept, weighted, where each graph begins, and their edges."""
        score: Tensor = self.score(nodes, edges)
        mask = highest(score.detach(), ptr, self.ratio)
        before = torch.cat([ptr.new_zeros(1), mask.cumsum(0)])
        stays = mask.nonzero()[:, 0]
        if is_traced():
            self._assume(stays.shape[0], nodes.shape[0])
        return nodes[stays] * score[stays].tanh()[:, None], before[ptr], edges.subgraph(mask)

    def _assume(self, stay: int, nodes: int) -> None:
        """State how many nodes are kept at least; torch cannot know it while tracing.

        Every graph keeps a node. In training a layer distinguishes one row from several, and a
        trace holds one of the two cases only.
        """
        if nodes == 0:
            return
        least = 2 if self.training and nodes > 1 else 1
        torch._check(
            stay >= least,
            lambda: (
                "a compiled training step needs a batch in which two nodes or more stay; "
                "use larger batches, or train without torch.compile"
            ),
        )


@final
class DirectionScore(nn.Module):
    """How far a node points in a learned direction."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.direction = nn.Parameter(torch.randn(channels) / channels**0.5)

    def forward(self, x: Float[Tensor, "nodes channels"], edges: Edges) -> Float[Tensor, "nodes"]:
        length: Tensor = self.direction.norm()
        return x @ self.direction / length


@final
class NeighbourScore(nn.Module):
    """A graph convolution with one output."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.own = nn.Linear(channels, 1)
        self.sent = nn.Linear(channels, 1, bias=False)

    def forward(self, x: Float[Tensor, "nodes channels"], edges: Edges) -> Float[Tensor, "nodes"]:
        return sum_of_neighbours(self.sent(x), edges, self.own(x))[:, 0]


def highest(
    score: Float[Tensor, "nodes"], ptr: Int[Tensor, "boundaries"], ratio: float
) -> Bool[Tensor, "nodes"]:
    """Whether each node is among the ``ratio`` of its graph with the highest scores."""
    graph = index_from_ptr(ptr, score.shape[0])
    order = score.argsort(descending=True, stable=True)
    order = order[graph[order].argsort(stable=True)]
    place = torch.arange(score.shape[0], device=score.device) - ptr[graph]
    enough = (ratio * ptr.diff().double()).ceil().long()
    return torch.empty_like(graph, dtype=torch.bool).index_copy(0, order, place < enough[graph])
