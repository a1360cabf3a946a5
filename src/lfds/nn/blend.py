"""Mix what max pooling saw into every slot."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn


@final
class MaxBlend(nn.Module):
    r"""Add the largest values of the graph to all its slots.

    .. math::
        \mathbf{y}_k \leftarrow a_1 \mathbf{y}_k + a_2 \mathbf{x}_{\max}, \qquad a_1, a_2 > 0

    Both factors are learned, as exponentials, and start at one.
    """

    def __init__(self) -> None:
        super().__init__()
        self.logarithms = nn.Parameter(torch.empty(2))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set both factors to one."""
        nn.init.zeros_(self.logarithms)

    @property
    def factors(self) -> Float[Tensor, "2"]:
        """The two factors, positive by construction."""
        return self.logarithms.exp()

    def forward(
        self,
        slots: Float[Tensor, "graphs slots channels"],
        x_max: Float[Tensor, "graphs channels"],
    ) -> Float[Tensor, "graphs slots channels"]:
        own, largest = self.factors.to(slots.dtype).unbind()
        return own * slots + (largest * x_max)[:, None, :]
