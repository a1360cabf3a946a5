"""Slots that are the nodes of a graph, and the graph convolution that lets neighbours talk."""

from abc import abstractmethod
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.accel.bags import Bags
from lfds.nn.accel.fused import Layer, can_fuse, fused_layer
from lfds.nn.ops.edges import Edges, Rows
from lfds.nn.structures.base import LatentLayer, Sketch, SlotActivation, Structure


class GraphStructure(Structure):
    """Slots with an adjacency among them."""

    @property
    @abstractmethod
    def adjacency(self) -> Float[Tensor, "slots slots"]:
        """The adjacency of the slots: symmetric, and nowhere negative."""

    @abstractmethod
    def sum_of_neighbours(
        self, slots: Float[Tensor, "graphs slots channels"]
    ) -> Float[Tensor, "graphs slots channels"]:
        """What arrives at each slot from its neighbours."""

    def bags(self, num_graphs: int) -> Bags | None:
        """The sums along the edges of so many graphs, where these are few and fixed for good."""
        return None

    def signal(self, slots: Float[Tensor, "graphs slots channels"]) -> tuple[Tensor, ...]:
        """The slots as they are, and their adjacency."""
        return slots, self.adjacency.to(slots)

    def sketch(self) -> Sketch:
        return Sketch("Graph", "graph", matrix=self.adjacency)

    @final
    def layer(self, channels: int) -> "SpatialLayer":
        return SpatialLayer(channels)


@final
class SpatialLayer(LatentLayer):
    r"""A graph convolution over the slots.

    .. math::
        \mathbf{Y} \leftarrow \mathbf{A}' f(\mathbf{Y} \boldsymbol{\Phi}_2)
                              + f(\mathbf{Y} \boldsymbol{\Phi}_1)

    Paper: has the nodes X in the second term, which have another number of rows; Y must be meant.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        # Both transforms in one product: f works on each channel by itself.
        self.transforms = nn.Linear(channels, 2 * channels, bias=False)
        self.activation = SlotActivation(2 * channels)

    def forward(
        self, slots: Float[Tensor, "graphs slots channels"], structure: GraphStructure
    ) -> Float[Tensor, "graphs slots channels"]:
        fuses = can_fuse(slots, self.transforms)
        bags = structure.bags(slots.shape[0]) if fuses else None
        if bags is not None:
            learned = Layer(self.transforms.weight, self.activation.norm)
            return fused_layer(slots.flatten(0, 1), learned, bags).view(slots.shape)
        activated: Tensor = self.activation(self.transforms(slots))
        own, sent = activated.chunk(2, dim=-1)
        return own + structure.sum_of_neighbours(sent)

    def reset_parameters(self) -> None:
        self.transforms.reset_parameters()
        self.activation.reset_parameters()


def normalised_rows(adjacency: Float[Tensor, "*graphs slots slots"]) -> Tensor:
    """Divide by the degrees, so that a slot hears the mean of its neighbours, not their sum."""
    degree = adjacency.sum(dim=-1, keepdim=True)
    return adjacency / degree.clamp(min=1e-12)


def repeated_edges(adjacency: Float[Tensor, "slots slots"], num_graphs: int) -> Edges:
    """The edges of a symmetric ``adjacency``, once for each graph."""
    row, column = adjacency.nonzero(as_tuple=True)
    num_slots, num_edges = adjacency.shape[0], row.shape[0]
    first = torch.arange(num_graphs, device=row.device)[:, None]
    starts = torch.searchsorted(row, torch.arange(num_slots, device=row.device))
    ends = row.new_full((1,), num_graphs * num_edges)
    rows = Rows(
        torch.cat([(first * num_edges + starts).flatten(), ends]).int(),
        (first * num_slots + column).flatten().int(),
        adjacency[row, column].repeat(num_graphs),
    )
    return Edges(rows, rows)
