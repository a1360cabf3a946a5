"""Learned readouts of PyG, as reference: Set Transformer and Graph Multiset Transformer."""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch_geometric.nn.aggr import GraphMultisetTransformer, SetTransformerAggregation

from lfds.config.network import NetworkSettings
from lfds.nn.baselines.base import GraphPooling
from lfds.nn.ops.edges import Edges
from lfds.nn.ops.ragged import index_from_ptr


@final
class TransformerPool(GraphPooling):
    """An aggregation of PyG that is made of attention.

    PyG pads all graphs to the largest of the batch. Graphs without nodes, which it does not
    support, get zeros.

    Args:
        channels: Width of the nodes, and length of the vector.
        aggregation: The aggregation.
    """

    @classmethod
    def from_settings(cls, settings: NetworkSettings) -> "TransformerPool":
        if settings.pool == "gmt":
            return cls.graph_multiset(settings.width, settings.seeds, settings.heads)
        return cls.set_transformer(settings.width, settings.heads)

    @classmethod
    def set_transformer(cls, channels: int, heads: int = 4) -> "TransformerPool":
        """The readout of Lee et al., *Set Transformer*: one block each, one seed."""
        return cls(channels, SetTransformerAggregation(channels, heads=heads))

    @classmethod
    def graph_multiset(cls, channels: int, seeds: int = 64, heads: int = 4) -> "TransformerPool":
        """The readout of Baek et al., *Accurate Learning of Graph Representations*: GMT."""
        return cls(channels, GraphMultisetTransformer(channels, k=seeds, heads=heads))

    def __init__(self, channels: int, aggregation: nn.Module) -> None:
        super().__init__(channels, channels)
        self.aggregation = aggregation

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 out_channels"]:
        filled = ptr.diff() > 0
        vectors = nodes.new_zeros(ptr.shape[0] - 1, self.out_channels)
        if not filled.any():
            return vectors + nodes.sum()  # zeros, connected to the graph of gradients
        start = torch.cat([ptr[:-1][filled], ptr[-1:]])
        index = index_from_ptr(start, nodes.shape[0])
        pooled: Tensor = self.aggregation(nodes, index, ptr=start, dim_size=len(start) - 1)
        return vectors.index_copy(0, filled.nonzero()[:, 0], pooled)
