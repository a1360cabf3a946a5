"""Tell every slot how much it received."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn


@final
class SlotCounts(nn.Module):
    r"""Add to every slot how many nodes it stands for.

    .. math::
        \mathbf{y}_k \leftarrow \mathbf{y}_k + \log(1 + m_k) \, \mathbf{v}, \qquad
        m_k = \sum_i p_{ik}

    A mean, of the graph or of a slot, no longer knows how many nodes there were; this gives it back
    on a scale that large graphs do not blow up. The direction is learned, and starts at zero.

    Args:
        channels: Width of the slots.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.direction = nn.Parameter(torch.empty(channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Say nothing again."""
        nn.init.zeros_(self.direction)

    def forward(
        self,
        slots: Float[Tensor, "graphs slots channels"],
        mass: Float[Tensor, "graphs slots"],
    ) -> Float[Tensor, "graphs slots channels"]:
        return slots + mass.log1p()[:, :, None] * self.direction.to(slots.dtype)
