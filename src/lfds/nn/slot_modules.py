"""What happens to slots around the latent layers: small modules, one idea each."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.input_checks import check_number
from lfds.nn.randomness import uniform


def drop_slots(
    slots: Float[Tensor, "graphs slots channels"], p: float
) -> Float[Tensor, "graphs slots channels"]:
    """Set each slot of each graph to zero with probability ``p``.

    The others are *not* scaled up by ``1 / (1 - p)``: maxima and batch norms follow, and would see
    other values in training than in evaluation.
    """
    mask = uniform(slots.shape[:2], slots.device) >= p
    return slots * mask[:, :, None].to(slots.dtype)


@final
class SlotDropout(nn.Module):
    """:func:`drop_slots` in training, the identity in evaluation.

    Args:
        p: Probability that a slot is dropped.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        if not 0 <= check_number("slot_dropout", p) < 1:
            raise ValueError(
                f"slot_dropout must be at least 0 and below 1, got {p}; 0 switches it off"
            )
        self.p = p

    def forward(
        self, slots: Float[Tensor, "graphs slots channels"]
    ) -> Float[Tensor, "graphs slots channels"]:
        return drop_slots(slots, self.p) if self.training and self.p > 0 else slots

    def extra_repr(self) -> str:
        return f"p={self.p}"


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


@final
class SlotCounts(nn.Module):
    r"""Add to every slot a learned direction, scaled by the logarithm of its mass.

    .. math::
        \mathbf{y}_k \leftarrow \mathbf{y}_k + \log(1 + m_k) \, \mathbf{v}, \qquad
        m_k = \sum_i p_{ik}

    A mean, over a graph or a slot, loses the number of nodes. The logarithm keeps it on a scale
    that does not explode on large graphs. The direction starts at zero.

    Args:
        channels: Width of the slots.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.direction = nn.Parameter(torch.empty(channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the direction to zero."""
        nn.init.zeros_(self.direction)

    def forward(
        self,
        slots: Float[Tensor, "graphs slots channels"],
        mass: Float[Tensor, "graphs slots"],
    ) -> Float[Tensor, "graphs slots channels"]:
        return slots + mass.log1p()[:, :, None] * self.direction.to(slots.dtype)


@final
class SlotWeights(nn.Module):
    r"""Sum the slots, each channel of each slot by a weight that is learned.

    .. math::
        z_j = \sum_k v_{kj} \, y_{kj}

    A maximum over the slots keeps little of what is spread over them, and a mean gives all of them
    the same weight. A slot means the same in every graph, so it can have weights of its own.

    Args:
        num_slots: Number of slots.
        channels: Width of the slots.
    """

    def __init__(self, num_slots: int, channels: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.empty(num_slots, channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights anew, such that sums over slots of unit variance have unit variance."""
        nn.init.normal_(self.weights, std=self.weights.shape[0] ** -0.5)

    def forward(
        self, slots: Float[Tensor, "graphs slots channels"]
    ) -> Float[Tensor, "graphs channels"]:
        # Not einsum: it makes many small products of this and takes ten times as long.
        return (slots * self.weights.to(slots.dtype)).sum(dim=1)
