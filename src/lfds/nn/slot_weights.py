"""Read every slot by weights of its own."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn


@final
class SlotWeights(nn.Module):
    r"""Sum the slots, each channel of each slot by a weight that is learned.

    .. math::
        z_j = \sum_k v_{kj} \, y_{kj}

    A maximum over the slots keeps little of what is spread over them, and a mean weighs all of them
    alike. Slots are places, which mean the same in every graph: what happens where may be read.

    Args:
        num_slots: Number of slots.
        channels: Width of the slots.
    """

    def __init__(self, num_slots: int, channels: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.empty(num_slots, channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights anew, so that sums over slots of unit variance spread by one."""
        nn.init.normal_(self.weights, std=self.weights.shape[0] ** -0.5)

    def forward(
        self, slots: Float[Tensor, "graphs slots channels"]
    ) -> Float[Tensor, "graphs channels"]:
        # Not einsum, which makes many small products of it and takes ten times as long.
        return (slots * self.weights.to(slots.dtype)).sum(dim=1)
