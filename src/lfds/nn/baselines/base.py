"""What every pooling of the comparison is: nodes and edges of some graphs in, a vector each out."""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lfds.config.network import NetworkSettings
from lfds.nn.ops.edges import Edges


class GraphPooling(nn.Module, ABC):
    """One vector for every graph.

    Attributes:
        replaces_readout: Whether the head sees this vector alone; otherwise it sees the maximum
            over the nodes of all layers as well.
        uses_all_layers: Whether the pooling reads the layers of the base side by side, or the last
            one only. By default the same as ``replaces_readout``; set it in ``__init__`` otherwise.
        in_channels: Width of the nodes.
        out_channels: Length of the vector.
    """

    replaces_readout: ClassVar[bool] = False

    def __init__(self, channels: int, out_channels: int) -> None:
        super().__init__()
        self.in_channels, self.out_channels = channels, out_channels
        self.uses_all_layers = self.replaces_readout

    @classmethod
    @abstractmethod
    def from_settings(cls, settings: NetworkSettings) -> "GraphPooling":
        """Build the pooling that the settings of a network ask for."""

    @abstractmethod
    def forward(
        self,
        nodes: Float[Tensor, "nodes channels"],
        ptr: Int[Tensor, "boundaries"],
        edges: Edges,
    ) -> Float[Tensor, "boundaries-1 out_channels"]: ...

    def penalty(self) -> Float[Tensor, ""]:
        """What to add to the loss of the batch that was pooled last."""
        return torch.zeros(())
