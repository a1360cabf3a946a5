"""The base of the network: spatial layers that let the nodes of each graph talk."""

from collections.abc import Sequence
from itertools import pairwise
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.accel.bags import Bags
from lfds.nn.accel.fused import Layer, can_fuse, fused_layer, fused_layers
from lfds.nn.models.activation import Activation
from lfds.nn.ops.edges import Edges
from lfds.nn.ops.spmm import sum_of_neighbours


@final
class GraphLayer(nn.Module):
    r"""One spatial layer.

    .. math::
        \mathbf{X} \leftarrow \mathbf{A} f(\mathbf{X} \boldsymbol{\Phi}_2)
                              + f(\mathbf{X} \boldsymbol{\Phi}_1)

    Args:
        in_channels: Width of the nodes that come in.
        out_channels: Width of those that go out.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        # Both transforms in one product: f works on each channel by itself.
        self.transforms = nn.Linear(in_channels, 2 * out_channels, bias=False)
        self.activation = Activation(2 * out_channels)

    def forward(
        self,
        x: Float[Tensor, "nodes in_channels"],
        edges: Edges,
        kept: Float[Tensor, "nodes 1"] | None = None,
    ) -> Float[Tensor, "nodes out_channels"]:
        """Run the layer.

        Args:
            x: The nodes.
            edges: The edges of the batch.
            kept: What the nodes that come out are multiplied with; nothing by default. No gradient
                flows to it.
        """
        if can_fuse(x, self.transforms):
            return fused_layer(x, self.learned, Bags(edges), kept)
        activated: Tensor = self.activation(self.transforms(x))
        own, sent = activated.chunk(2, dim=-1)
        out = sum_of_neighbours(sent, edges, own)
        return out if kept is None else out * kept.to(out.dtype)

    @property
    def learned(self) -> Layer:
        """What is learned, for running several layers in one piece."""
        return Layer(self.transforms.weight, self.activation.norm)


@final
class Backbone(nn.Module):
    """Some spatial layers one after the other; all their outputs are read.

    Args:
        features: Width of the input.
        width: Width of every layer.
        layers: Number of layers.
        node_dropout: Probability of a node to be silenced after a layer, in training.
    """

    def __init__(self, features: int, width: int, layers: int, node_dropout: float) -> None:
        super().__init__()
        widths = [features] + layers * [width]
        self.layers: Sequence[GraphLayer] = nn.ModuleList(  # type: ignore[assignment]
            GraphLayer(before, after) for before, after in pairwise(widths)
        )
        self.node_dropout = node_dropout

    def forward(
        self, x: Float[Tensor, "nodes features"], edges: Edges
    ) -> tuple[Float[Tensor, "nodes all_widths"], Float[Tensor, "nodes width"]]:
        """Return the outputs of all layers side by side, and that of the last."""
        kept = self._kept(x)
        if can_fuse(x, *(layer.transforms for layer in self.layers)):
            return fused_layers(x, [layer.learned for layer in self.layers], Bags(edges), kept)
        outputs = []
        for layer, silence in zip(self.layers, kept, strict=True):
            x = layer(x, edges, silence)
            outputs.append(x)
        return torch.cat(outputs, dim=1), x

    def _kept(self, x: Tensor) -> Sequence[Tensor | None]:
        if self.training and self.node_dropout > 0:
            return [kept_nodes(x, self.node_dropout) for _ in self.layers]
        return [None] * len(self.layers)


def kept_nodes(x: Float[Tensor, "nodes channels"], p: float) -> Float[Tensor, "nodes 1"]:
    """Draw a factor for each node: zero with probability ``p``, otherwise one.

    It is *not* ``1 / (1 - p)``: maxima and batch norms follow, and would see other values in
    training than afterwards.
    """
    return (torch.rand(x.shape[0], 1, device=x.device) >= p).to(x.dtype)
