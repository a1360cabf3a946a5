"""What every pooling of the comparison is: nodes and edges of some graphs in, a vector each out."""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lfds.nn.edges import Edges


class GraphPooling(nn.Module, ABC):
    """One vector for every graph.

    Attributes:
        stands_alone: Whether the vector is all that the head gets to see of a graph; otherwise it
            sees the maximum over the nodes of all layers as well.
        reads_all: Whether it is handed the layers of the base side by side, or the last one only;
            set it in ``__init__`` where that is otherwise than by default, which is whether it
            stands alone.
        channels: Width of the nodes.
        out_channels: Length of the vector.
    """

    stands_alone: ClassVar[bool] = False

    def __init__(self, channels: int, out_channels: int) -> None:
        super().__init__()
        self.channels, self.out_channels = channels, out_channels
        self.reads_all = self.stands_alone

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
