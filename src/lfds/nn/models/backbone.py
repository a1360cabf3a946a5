"""The base of the network: layers in which the nodes of each graph exchange information."""

from collections.abc import Sequence
from typing import Any, Protocol, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lfds.config.network import NetworkSettings
from lfds.config.registry import BASES
from lfds.nn.randomness import uniform
from lfds.nn.spatial import Adjacency, FeaturedEdges, SpatialLayer


class BaseEdges(Adjacency, FeaturedEdges, Protocol):
    """The edges of a batch, as any layer takes them: :class:`lfds.nn.Edges`."""

    @property
    def pairs(self) -> Tensor:
        """Edges as in PyG, ``[2, edges]``: sources above targets."""

    @property
    def weight(self) -> Tensor | None:
        """The weight of every edge; None where all are 1."""


@final
class Backbone(nn.Module):
    """Some layers one after the other; all their outputs are read.

    Args:
        in_channels: Width of the input.
        settings: Which layers (``base``), how many and how wide, and the probability
            ``node_dropout`` that a node is dropped after a layer, in training.
        edge_channels: Number of features of an edge; 0 if they have none.
    """

    def __init__(self, in_channels: int, settings: NetworkSettings, edge_channels: int = 0) -> None:
        super().__init__()
        build = BASES[settings.base].load()
        widths = [in_channels] + (settings.layers - 1) * [settings.width]
        layers = [build(width, settings, edge_channels) for width in widths]
        self.layers: Sequence[nn.Module] = nn.ModuleList(layers)  # type: ignore[assignment]
        self.node_dropout = settings.node_dropout

    def forward(
        self,
        x: Float[Tensor, "nodes in_channels"],
        edges: BaseEdges,
        ptr: Int[Tensor, "boundaries"],
    ) -> tuple[Float[Tensor, "nodes all_widths"], Float[Tensor, "nodes width"]]:
        """Return the outputs of all layers side by side, and that of the last."""
        outputs = []
        for layer, mask in zip(self.layers, self._masks(x), strict=True):
            x = layer(x, edges) if isinstance(layer, SpatialLayer) else layer(x, edges, ptr)
            if mask is not None:
                x = x * mask.to(x.dtype)
            outputs.append(x)
        return torch.cat(outputs, dim=1), x

    @property
    def first_weight(self) -> Tensor | None:
        """A parameter of the first layer, whose dtype the nodes need; None if it was replaced."""
        first = self.layers[0]
        if isinstance(first, SpatialLayer):
            weight: Any = first.transforms.weight  # of a quantized layer it is a method
            return weight if isinstance(weight, Tensor) else None
        return next(first.parameters(), None)

    def _masks(self, x: Tensor) -> Sequence[Tensor | None]:
        if self.training and self.node_dropout > 0:
            return [node_mask(x, self.node_dropout) for _ in self.layers]
        return [None] * len(self.layers)


def spatial(in_channels: int, settings: NetworkSettings, edge_channels: int) -> SpatialLayer:
    """The layer of the paper."""
    return SpatialLayer(in_channels, settings.width, edge_channels)


def node_mask(x: Float[Tensor, "nodes channels"], p: float) -> Float[Tensor, "nodes 1"]:
    """Draw a factor for each node: zero with probability ``p``, otherwise one.

    It is *not* ``1 / (1 - p)``: maxima and batch norms follow, and would see other values in
    training than in evaluation.
    """
    return (uniform((x.shape[0], 1), x.device) >= p).to(x.dtype)
