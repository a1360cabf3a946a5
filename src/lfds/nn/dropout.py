"""Silence random slots in training, so that no few of them do all the work."""

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.checks import check_number


def drop_slots(
    slots: Float[Tensor, "graphs slots channels"], p: float
) -> Float[Tensor, "graphs slots channels"]:
    """Set each slot of each graph to zero with probability ``p``.

    The others are *not* scaled up by ``1 / (1 - p)``: what follows takes maxima and normalises,
    and would see other values in training than afterwards.
    """
    kept = torch.rand(slots.shape[:2], device=slots.device) >= p
    return slots * kept[:, :, None].to(slots.dtype)


@final
class SlotDropout(nn.Module):
    """:func:`drop_slots` while training, nothing afterwards.

    Args:
        p: Probability of a slot to be silenced.
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
