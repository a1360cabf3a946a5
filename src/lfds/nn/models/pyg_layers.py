"""Layers of PyG as the base of the network: each is built by a function that the registry names.

A layer is a convolution of PyG and the function f after it, ReLU and batch norm, except GPS, which
brings its own norms. PyG's attention of GPS pads graphs to the largest of a batch.
"""

from collections.abc import Callable
from typing import Any, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch_geometric.nn import (
    GATv2Conv,
    GCNConv,
    GINConv,
    GINEConv,
    GPSConv,
    PNAConv,
    SAGEConv,
)
from torch_geometric.nn.aggr import DegreeScalerAggregation

from lfds.config.network import NetworkSettings
from lfds.nn.models.backbone import BaseEdges
from lfds.nn.ops.ragged import index_from_ptr
from lfds.nn.spatial import Activation

_AGGREGATORS = ["mean", "min", "max", "std"]
_SCALERS = ["identity", "amplification", "attenuation"]


@final
class ConvLayer(nn.Module):
    """A convolution of PyG, then f.

    Args:
        conv: Called with nodes and ``edge_index``, and by name with what ``given`` returns.
        out_channels: Width of what it returns.
        given: Returns what else the convolution is called with.
    """

    def __init__(
        self,
        conv: nn.Module,
        out_channels: int,
        given: Callable[[Tensor, BaseEdges], dict[str, Tensor | None]],
    ) -> None:
        super().__init__()
        self.conv, self.activation, self._given = conv, Activation(out_channels), given

    def forward(
        self,
        x: Float[Tensor, "nodes in_channels"],
        edges: BaseEdges,
        ptr: Int[Tensor, "boundaries"],
    ) -> Float[Tensor, "nodes out_channels"]:
        out: Tensor = self.activation(self.conv(x, edges.pairs, **self._given(x, edges)))
        return out


@final
class GPSLayer(nn.Module):
    """A layer of GPS: a convolution, and attention among all nodes of a graph.

    Args:
        in_channels: Width of what comes in; another one than ``channels`` is mapped to it.
        channels: Width of the layer.
        heads: Number of attention heads.
        edge_channels: Number of features of an edge.
    """

    def __init__(self, in_channels: int, channels: int, heads: int, edge_channels: int) -> None:
        super().__init__()
        same = in_channels == channels
        self.input_map = None if same else nn.Linear(in_channels, channels)
        conv = (
            GINEConv(_perceptron(channels, channels), edge_dim=edge_channels)
            if edge_channels
            else GINConv(_perceptron(channels, channels))
        )
        # A batch of a single node has no variance.
        single = {"allow_single_element": True}
        self.layer = GPSConv(channels, conv, heads=heads, norm_kwargs=single)
        self._has_edges = edge_channels > 0

    def forward(
        self,
        x: Float[Tensor, "nodes in_channels"],
        edges: BaseEdges,
        ptr: Int[Tensor, "boundaries"],
    ) -> Float[Tensor, "nodes channels"]:
        x = x if self.input_map is None else self.input_map(x)
        if x.shape[0] == 0:
            return x
        # Numbers of graphs without nodes are left out: attention to nothing is NaN.
        filled = (ptr.diff() > 0).cumsum(0) - 1
        graphs = filled[index_from_ptr(ptr, x.shape[0])]
        given = {"edge_attr": edges.features} if self._has_edges else {}
        out: Tensor = self.layer(x, edges.pairs, graphs, **given)
        return out


def gin(in_channels: int, settings: NetworkSettings, edge_channels: int) -> ConvLayer:
    """Graph isomorphism network."""
    conv = GINConv(_perceptron(in_channels, settings.width), train_eps=True)
    return ConvLayer(conv, settings.width, _nothing)


def gine(in_channels: int, settings: NetworkSettings, edge_channels: int) -> ConvLayer:
    """The same, with features of edges."""
    perceptron = _perceptron(in_channels, settings.width)
    conv = GINEConv(perceptron, train_eps=True, edge_dim=edge_channels or None)
    return ConvLayer(conv, settings.width, _features if edge_channels else _zeros)


def gcn(in_channels: int, settings: NetworkSettings, edge_channels: int) -> ConvLayer:
    """Graph convolutional network."""
    return ConvLayer(GCNConv(in_channels, settings.width), settings.width, _weights)


def sage(in_channels: int, settings: NetworkSettings, edge_channels: int) -> ConvLayer:
    """GraphSAGE with means."""
    return ConvLayer(SAGEConv(in_channels, settings.width), settings.width, _nothing)


def gat(in_channels: int, settings: NetworkSettings, edge_channels: int) -> ConvLayer:
    """Graph attention network, version 2."""
    heads = settings.heads
    conv = GATv2Conv(
        in_channels, settings.width // heads, heads=heads, edge_dim=edge_channels or None
    )
    return ConvLayer(conv, settings.width, _features)


def pna(in_channels: int, settings: NetworkSettings, edge_channels: int) -> ConvLayer:
    """Principal neighbourhood aggregation; see :func:`set_degrees`."""
    # A histogram of degrees, which set_degrees or stored weights replace.
    degrees = torch.tensor([0, 1], device="cpu")
    width, edge_dim = settings.width, edge_channels or None
    conv = PNAConv(in_channels, width, _AGGREGATORS, _SCALERS, degrees, edge_dim=edge_dim)
    return ConvLayer(conv, width, _features)


def gps(in_channels: int, settings: NetworkSettings, edge_channels: int) -> GPSLayer:
    """General, powerful, scalable graph transformer."""
    return GPSLayer(in_channels, settings.width, settings.heads, edge_channels)


def set_degrees(base: nn.Module, degrees: Int[Tensor, "nodes"]) -> None:
    """Set the mean degrees by which PNA scales, from the degree of each training node."""
    found = degrees.double()
    for part in base.modules():
        if isinstance(part, DegreeScalerAggregation) and bool((found > 0).any()):
            part.avg_deg_lin.fill_(float(found.mean()))
            part.avg_deg_log.fill_(float(found.log1p().mean()))


def _perceptron(in_channels: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(in_channels, width), Activation(width), nn.Linear(width, width))


def _nothing(x: Tensor, edges: BaseEdges) -> dict[str, Any]:
    return {}


def _features(x: Tensor, edges: BaseEdges) -> dict[str, Tensor | None]:
    return {"edge_attr": edges.features}


def _zeros(x: Tensor, edges: BaseEdges) -> dict[str, Tensor | None]:
    return {"edge_attr": x.new_zeros(edges.pairs.shape[1], x.shape[1])}


def _weights(x: Tensor, edges: BaseEdges) -> dict[str, Tensor | None]:
    weight = edges.weight
    return {"edge_weight": None if weight is None else weight.to(x.dtype)}
