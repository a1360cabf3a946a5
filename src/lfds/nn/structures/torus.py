"""Slots on a grid that wraps around, with a circular 2-D convolution."""

from collections.abc import Iterator
from math import isqrt
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from lfds.config.network import NetworkSettings
from lfds.nn.input_checks import check_count
from lfds.nn.structures.base import Sketch, Structure, Symmetry
from lfds.nn.structures.image import ImageLayer, check_kernel_size


@final
class Torus(Structure):
    """A grid of slots, row after row, whose opposite borders are neighbours.

    Symmetry: shifting the slots along either axis, around the border too, shifts the output.

    Args:
        height: Number of rows, at least half the kernel.
        width: Number of columns, at least half the kernel.
        kernel_size: Kernel size of the convolution; odd.
    """

    channels_first = True
    signal_dims = (4,)

    def __init__(self, height: int = 8, width: int = 8, *, kernel_size: int = 3) -> None:
        check_kernel_size(kernel_size)
        least = max(1, kernel_size // 2)
        height = check_count("height of Torus", height, least=least)
        width = check_count("width of Torus", width, least=least)
        super().__init__(height * width)
        self.height, self.width, self.kernel_size = height, width, kernel_size

    @classmethod
    def from_settings(cls, settings: NetworkSettings) -> "Torus":
        side = isqrt(settings.slots)
        return cls(side, side)

    def layer(self, channels: int) -> ImageLayer:
        return ImageLayer(channels, self.kernel_size, padding_mode="circular")

    def laplacian(self) -> Float[Tensor, "slots slots"]:
        identity = torch.eye(self.num_slots)
        steps = [identity - identity[symmetry.order] for symmetry in self.symmetries()]
        return torch.stack([step.T @ step for step in steps]).sum(dim=0)

    def sketch(self) -> Sketch:
        return Sketch("Torus", "grid", size=(self.height, self.width))

    def signal(self, slots: Float[Tensor, "graphs slots channels"]) -> tuple[Tensor, ...]:
        """An image [graphs, channels, height, width]."""
        return (slots.unflatten(1, (self.height, self.width)).permute(0, 3, 1, 2),)

    def symmetries(self) -> Iterator[Symmetry]:
        slots = torch.arange(self.num_slots).view(self.height, self.width)
        for axis, way in ((0, "down"), (1, "right")):
            yield Symmetry(f"shifted one slot {way}", slots.roll(1, dims=axis).flatten(), self)

    def extra_repr(self) -> str:
        return f"{self.height}x{self.width} slots"
