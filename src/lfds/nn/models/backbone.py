"""The base of the network: spatial layers in which the nodes of each graph exchange information."""

from collections.abc import Sequence
from itertools import pairwise
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.randomness import uniform
from lfds.nn.spatial import Adjacency, SpatialLayer


@final
class Backbone(nn.Module):
    """Some spatial layers one after the other; all their outputs are read.

    Args:
        in_channels: Width of the input.
        width: Width of every layer.
        layers: Number of layers.
        node_dropout: Probability that a node is dropped after a layer, in training.
        edge_channels: Number of features of an edge; 0 if they have none.
    """

    def __init__(
        self,
        in_channels: int,
        width: int,
        layers: int,
        node_dropout: float,
        edge_channels: int = 0,
    ) -> None:
        super().__init__()
        widths = [in_channels] + layers * [width]
        self.layers: Sequence[SpatialLayer] = nn.ModuleList(  # type: ignore[assignment]
            SpatialLayer(before, after, edge_channels) for before, after in pairwise(widths)
        )
        self.node_dropout = node_dropout

    def forward(
        self, x: Float[Tensor, "nodes in_channels"], edges: Adjacency
    ) -> tuple[Float[Tensor, "nodes all_widths"], Float[Tensor, "nodes width"]]:
        """Return the outputs of all layers side by side, and that of the last."""
        outputs = []
        for layer, mask in zip(self.layers, self._masks(x), strict=True):
            x = layer(x, edges)
            if mask is not None:
                x = x * mask.to(x.dtype)
            outputs.append(x)
        return torch.cat(outputs, dim=1), x

    def _masks(self, x: Tensor) -> Sequence[Tensor | None]:
        if self.training and self.node_dropout > 0:
            return [node_mask(x, self.node_dropout) for _ in self.layers]
        return [None] * len(self.layers)


def node_mask(x: Float[Tensor, "nodes channels"], p: float) -> Float[Tensor, "nodes 1"]:
    """Draw a factor for each node: zero with probability ``p``, otherwise one.

    It is *not* ``1 / (1 - p)``: maxima and batch norms follow, and would see other values in
    training than in evaluation.
    """
    return (uniform((x.shape[0], 1), x.device) >= p).to(x.dtype)
