"""The base of the network: layers in which the nodes of each graph exchange information."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeGuard, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lfds.config.network import NetworkSettings
from lfds.config.registry import BASES
from lfds.nn.chunks import is_large, is_observed, row_chunks
from lfds.nn.ops.edges import Edges
from lfds.nn.ops.spmm import multiply
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
        if not self.training and is_large(x) and isinstance(edges, Edges):
            plain = [layer for layer in self.layers if _is_plain(layer)]
            if len(plain) == len(self.layers):
                return in_chunks(plain, x, edges)
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


def _is_plain(layer: nn.Module) -> TypeGuard[SpatialLayer]:
    """Whether a layer is spatial, without features of edges, and nothing observes it."""
    spatial = isinstance(layer, SpatialLayer) and layer.edge_transform is None
    return spatial and not is_observed(*layer.modules())


def in_chunks(
    layers: Sequence[SpatialLayer], x: Float[Tensor, "nodes in_channels"], edges: Edges
) -> tuple[Float[Tensor, "nodes all_widths"], Float[Tensor, "nodes width"]]:
    """Return the same as :class:`Backbone` does, with little more memory than the result takes.

    Every layer writes to its columns of the result, some rows at a time: first what the nodes
    keep, then what their neighbours send. What they send is computed twice, for one half of the
    channels at a time.
    """
    nodes, width = x.shape[0], layers[0].transforms.out_features // 2
    everything = x.new_empty(nodes, width * len(layers))
    halves = [slice(0, width // 2), slice(width // 2, width)]
    for layer, output in zip(layers, everything.split(width, 1), strict=True):
        for half in halves:
            sent = x.new_empty(nodes, half.stop - half.start)
            for start, stop in row_chunks(nodes):
                own, other = layer.activation(layer.transforms(x[start:stop])).chunk(2, -1)
                output[start:stop, half] = own[:, half]
                sent[start:stop] = other[:, half]
            for start, stop in row_chunks(nodes):
                output[start:stop, half] += multiply(edges.rows.between(start, stop), sent)
        x = output
    return everything, x


def spatial(in_channels: int, settings: NetworkSettings, edge_channels: int) -> SpatialLayer:
    """The layer of the paper."""
    return SpatialLayer(in_channels, settings.width, edge_channels)


def node_mask(x: Float[Tensor, "nodes channels"], p: float) -> Float[Tensor, "nodes 1"]:
    """Draw a factor for each node: zero with probability ``p``, otherwise one.

    It is *not* ``1 / (1 - p)``: maxima and batch norms follow, and would see other values in
    training than in evaluation.
    """
    return (uniform((x.shape[0], 1), x.device) >= p).to(x.dtype)
