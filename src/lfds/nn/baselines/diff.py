"""DiffPool: nodes are assigned to clusters that form a graph of their own."""

from typing import Any, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lfds.config.network import NetworkSettings
from lfds.nn.baselines.base import GraphPooling
from lfds.nn.ops.edges import Edges
from lfds.nn.ops.segment import slot_max
from lfds.nn.ops.segment_matmul import weighted_sums
from lfds.nn.ops.spmm import sum_of_neighbours
from lfds.nn.spatial import DenseAdjacency, SpatialLayer
from lfds.nn.structures.graph import normalized_rows


@final
class DiffPool(GraphPooling):
    r"""One down-sizing, two spatial layers on the clusters, and their maxima.

    Of Ying et al., *Hierarchical Graph Representation Learning with Differentiable Pooling*:

    .. math::
        \mathbf{S} = \mathrm{softmax}(\mathrm{layer}(\mathbf{X}, \mathbf{A})), \qquad
        \mathbf{X}' = \mathbf{S}^\top \mathbf{X}, \qquad
        \mathbf{A}' = \mathbf{S}^\top \mathbf{A} \mathbf{S}

    No matrix of nodes times nodes is ever made, see :func:`link_loss`.
    Clusters aggregate by the mean over their neighbours: all edges of a graph may end up between
    two clusters, and with a sum over them a head without batch norm stays at chance.

    Args:
        channels: Width of the nodes.
        clusters: Number of clusters.
        link_weight: Weight of the link loss in :meth:`penalty`.
        entropy_weight: Weight of the entropy of the shares there.
    """

    @classmethod
    def from_settings(cls, settings: NetworkSettings) -> "DiffPool":
        return cls(
            settings.width,
            settings.clusters,
            link_weight=settings.link_weight,
            entropy_weight=settings.entropy_weight,
        )

    def __init__(
        self,
        channels: int,
        clusters: int = 64,
        *,
        link_weight: float = 1.0,
        entropy_weight: float = 1.0,
    ) -> None:
        super().__init__(channels, 2 * channels)
        self.link_weight, self.entropy_weight = link_weight, entropy_weight
        self.assign = SpatialLayer(channels, clusters)
        self.layers = nn.ModuleList(SpatialLayer(channels, channels) for _ in range(2))
        self._penalty: Tensor | None = None

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 out_channels"]:
        logits: Tensor = self.assign(nodes, edges)
        x, adjacency, self._penalty = self.down_size(nodes, logits, ptr, edges)
        neighbours = DenseAdjacency(normalized_rows(adjacency))
        vectors = []
        for layer in self.layers:
            x = layer(x, neighbours)
            vectors.append(slot_max(x))
        return torch.cat(vectors, dim=1)

    def down_size(
        self,
        nodes: Float[Tensor, "nodes channels"],
        logits: Float[Tensor, "nodes clusters"],
        ptr: Int[Tensor, "boundaries"],
        edges: Edges,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The clusters, their adjacency, and the penalty of the assignment by ``logits``."""
        share = logits.softmax(dim=-1)
        # All three products with the shares in one.
        right = torch.cat([nodes, sum_of_neighbours(share, edges), share], dim=1)
        sums = weighted_sums(share, right, ptr)
        sizes = [nodes.shape[1], share.shape[1], share.shape[1]]
        x, adjacency, overlap = sums.split(sizes, dim=-1)
        link = link_loss(adjacency, overlap, ptr, edges)
        entropy = -(share * logits.log_softmax(dim=-1)).sum() / max(1, share.shape[0])
        return x, adjacency, self.link_weight * link + self.entropy_weight * entropy

    def penalty(self) -> Float[Tensor, ""]:
        return super().penalty() if self._penalty is None else self._penalty

    def __getstate__(self) -> dict[str, Any]:
        # The penalty belongs to the graph of its batch: a copy of the module starts without.
        return {**self.__dict__, "_penalty": None}


def link_loss(
    adjacency: Float[Tensor, "graphs clusters clusters"],
    overlap: Float[Tensor, "graphs clusters clusters"],
    ptr: Int[Tensor, "boundaries"],
    edges: Edges,
) -> Float[Tensor, ""]:
    r"""How badly the assignments of two nodes predict an edge between them, mean over graphs.

    .. math::
        \frac{1}{n^2} \lVert \mathbf{A} - \mathbf{S} \mathbf{S}^\top \rVert_F, \qquad
        \lVert \mathbf{A} - \mathbf{S} \mathbf{S}^\top \rVert_F^2 =
        \lVert \mathbf{A} \rVert_F^2 - 2 \,\mathrm{tr}\, \mathbf{S}^\top \mathbf{A} \mathbf{S}
        + \lVert \mathbf{S}^\top \mathbf{S} \rVert_F^2

    Args:
        adjacency: That of the clusters, :math:`\mathbf{S}^\top \mathbf{A} \mathbf{S}`.
        overlap: :math:`\mathbf{S}^\top \mathbf{S}`.
        ptr: Where each graph begins.
        edges: The edges :math:`\mathbf{A}` of the batch.
    """
    strength = edges.rows.weight.to(overlap.dtype).square()
    before = torch.cat([strength.new_zeros(1), strength.double().cumsum(0)])
    total = before[edges.rows.ptr[ptr].long()].diff().to(overlap.dtype)
    trace = adjacency.diagonal(dim1=-2, dim2=-1).sum(dim=-1)
    square = total - 2 * trace + overlap.square().sum(dim=(-2, -1))
    # Rounding may leave a perfect fit a little below zero, where a root has no slope.
    distance = square.clamp(min=1e-6).sqrt()
    return (distance / ptr.diff().clamp(min=1).square()).sum() / max(1, square.shape[0])
