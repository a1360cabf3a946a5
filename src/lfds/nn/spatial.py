"""The spatial layer: the one graph convolution of nodes, slots and clusters."""

from typing import NamedTuple, Protocol, cast, final, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from lfds.nn.normalization import normalize_rows, reset_parameters


@runtime_checkable
class Adjacency(Protocol):
    """Who is whose neighbour: the edges of a batch, a structure, or a matrix for each graph."""

    def add_neighbours(self, own: Tensor, sent: Tensor) -> Tensor:
        r"""Return :math:`\mathbf{O} + \mathbf{A} \mathbf{S}`."""


class FeaturedEdges(Protocol):
    """Edges of which something is known, so that a node sends differently along each of them."""

    @property
    def features(self) -> Tensor | None:
        """A row for every edge."""

    def take_sources(self, sent: Tensor) -> Tensor:
        """Return for every edge the row of the node that it comes from."""

    def add_messages(self, own: Tensor, messages: Tensor) -> Tensor:
        r"""Return :math:`\mathbf{o}_i + \sum_j a_{ij} \mathbf{m}_{ij}`."""


class DenseAdjacency(NamedTuple):
    """An adjacency of a few nodes or slots, one matrix for each graph."""

    matrix: Float[Tensor, "graphs rows rows"]

    def add_neighbours(self, own: Tensor, sent: Tensor) -> Tensor:
        """Add to each row what its neighbours send."""
        return torch.baddbmm(own, self.matrix, sent)


@final
class Activation(nn.Module):
    """The function f of the paper: ReLU, then batch norm over all rows (:func:`normalize_rows`).

    Args:
        channels: Size of the last dimension.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(channels)

    def forward(self, x: Float[Tensor, "*rows channels"]) -> Float[Tensor, "*rows channels"]:
        normalized = normalize_rows(self.norm, F.relu(x).flatten(0, -2))
        return normalized.view(x.shape)

    def reset_parameters(self) -> None:
        """Forget the statistics, and scale by one again."""
        reset_parameters(self.norm)


@final
class SpatialLayer(nn.Module):
    r"""One graph convolution.

    .. math::
        \mathbf{X} \leftarrow \mathbf{A} f(\mathbf{X} \boldsymbol{\Phi}_2)
                              + f(\mathbf{X} \boldsymbol{\Phi}_1)

    Where edges have features :math:`\mathbf{e}_{ij}`, they change what is sent along them:

    .. math::
        \mathbf{x}_i \leftarrow f(\mathbf{x}_i \boldsymbol{\Phi}_1) + \sum_j a_{ij}
            f(\mathbf{x}_j \boldsymbol{\Phi}_2 + \mathbf{e}_{ij} \boldsymbol{\Phi}_3)

    Paper: has the nodes X in the second term of the latent layer, which have another number of
    rows; the slots must be meant. It has no features of edges.

    Args:
        in_channels: Width of what comes in.
        out_channels: Width of what goes out.
        edge_channels: Number of features of an edge; 0 if they have none.
    """

    def __init__(self, in_channels: int, out_channels: int, edge_channels: int = 0) -> None:
        super().__init__()
        # Both transforms in one product: f works on each channel by itself.
        self.transforms = nn.Linear(in_channels, 2 * out_channels, bias=False)
        self.edge_transform: nn.Linear | None = None
        if edge_channels == 0:
            self.activation = Activation(2 * out_channels)
        else:  # nodes and messages are normalized by themselves: there are as many as edges
            self.activation = Activation(out_channels)
            self.edge_transform = nn.Linear(edge_channels, out_channels, bias=False)
            self.message_activation = Activation(out_channels)

    def forward(
        self, x: Float[Tensor, "*rows in_channels"], adjacency: Adjacency
    ) -> Float[Tensor, "*rows out_channels"]:
        if self.edge_transform is None:
            own, sent = self.activation(self.transforms(x)).chunk(2, dim=-1)
            return adjacency.add_neighbours(own, sent)
        edges = cast(FeaturedEdges, adjacency)
        own, sent = self.transforms(x).chunk(2, dim=-1)
        along = edges.take_sources(sent) + self.edge_transform(edges.features)
        return edges.add_messages(self.activation(own), self.message_activation(along))

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        self.transforms.reset_parameters()
        self.activation.reset_parameters()
        if self.edge_transform is not None:
            self.edge_transform.reset_parameters()
            self.message_activation.reset_parameters()
