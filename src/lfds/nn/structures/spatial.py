"""Slots that are the nodes of a graph, and the graph convolution that lets neighbours talk."""

from abc import abstractmethod
from typing import final

from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.structures.base import LatentLayer, SlotActivation, Structure


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
        activated: Tensor = self.activation(self.transforms(slots))
        own, sent = activated.chunk(2, dim=-1)
        return own + structure.sum_of_neighbours(sent)

    def reset_parameters(self) -> None:
        self.transforms.reset_parameters()
        self.activation.reset_parameters()


def normalised_rows(adjacency: Float[Tensor, "slots slots"]) -> Float[Tensor, "slots slots"]:
    """Divide by the degrees, so that a slot hears the mean of its neighbours, not their sum."""
    degree = adjacency.sum(dim=1, keepdim=True)
    return adjacency / degree.clamp(min=1e-12)
