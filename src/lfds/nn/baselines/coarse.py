"""Poolers of torch-geometric-pool as readouts: one down-sizing, two layers on what is left."""

from typing import Any, NamedTuple, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lfds.config.network import NetworkSettings
from lfds.config.registry import TGP_PREFIX
from lfds.nn.baselines.base import GraphPooling
from lfds.nn.baselines.tgp_poolers import make_pooler, same_draws
from lfds.nn.ops.edges import Edges
from lfds.nn.ops.ragged import index_from_ptr, ragged
from lfds.nn.ops.segment import ragged_max
from lfds.nn.spatial import SpatialLayer


@final
class CoarsePool(GraphPooling):
    """One down-sizing by a pooler of ``tgp``, two spatial layers after it, and their maxima.

    Graphs without nodes, which ``tgp`` does not support, get zeros. The losses of the pooler are
    the penalty.

    Args:
        channels: Width of the nodes.
        name: The pooler, as ``tgp`` calls it.
        clusters: Number of clusters, for poolers that take one.
        ratio: Part of the nodes that are kept, for poolers that take one.
    """

    @classmethod
    def from_settings(cls, settings: NetworkSettings) -> "CoarsePool":
        name = settings.pool.removeprefix(TGP_PREFIX)
        return cls(settings.width, name, settings.clusters, settings.ratio)

    def __init__(self, channels: int, name: str, clusters: int = 64, ratio: float = 0.5) -> None:
        super().__init__(channels, 2 * channels)
        self.pooler, width = make_pooler(name, channels, clusters, ratio)
        self.layers = nn.ModuleList(
            [SpatialLayer(width, channels), SpatialLayer(channels, channels)]
        )
        self._penalty: Tensor | None = None

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 out_channels"]:
        filled = ptr.diff() > 0
        vectors = nodes.new_zeros(ptr.shape[0] - 1, self.out_channels)
        self._penalty = None
        if not filled.any():
            return vectors + nodes.sum()  # zeros, connected to the graph of gradients
        start = torch.cat([ptr[:-1][filled], ptr[-1:]])
        return vectors.index_copy(0, filled.nonzero()[:, 0], self._pooled(nodes, start, edges))

    def _pooled(self, nodes: Tensor, ptr: Tensor, edges: Edges) -> Tensor:
        with same_draws():
            coarse = self.pooler(
                x=nodes,
                adj=torch.stack([edges.rows.column.long(), edges.target]),
                edge_weight=edges.rows.weight.to(nodes.dtype),
                batch=index_from_ptr(ptr, nodes.shape[0]),
            )
        if coarse.loss:
            self._penalty = torch.stack(list(coarse.loss.values())).sum()
        x, pairs = coarse.x, coarse.edge_index
        weight = x.new_ones(pairs.shape[1])
        if coarse.edge_weight is not None:
            weight = coarse.edge_weight.view(-1).to(x.dtype)
        coarse_edges = WeightedPairs(pairs, weight)
        vectors = []
        for layer in self.layers:
            x = layer(x, coarse_edges)
            batch = ragged(x, coarse.batch, None, ptr.shape[0] - 1)
            vectors.append(ragged_max(batch.x, batch.ptr))
        return torch.cat(vectors, dim=1)

    def penalty(self) -> Float[Tensor, ""]:
        return super().penalty() if self._penalty is None else self._penalty

    def __getstate__(self) -> dict[str, Any]:
        # The penalty belongs to the graph of its batch: a copy of the module starts without.
        return {**self.__dict__, "_penalty": None}


class WeightedPairs(NamedTuple):
    """Edges as pairs of nodes, with weights that are learned from as well."""

    pairs: Int[Tensor, "2 edges"]
    weight: Float[Tensor, "edges"]

    def add_neighbours(self, own: Tensor, sent: Tensor) -> Tensor:
        """Add to each node what its neighbours send."""
        source, target = self.pairs
        return own.index_add(0, target, self.weight[:, None] * sent[source])
