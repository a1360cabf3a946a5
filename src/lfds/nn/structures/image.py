"""Slots on a grid, like the pixels of an image, with a 2-D convolution."""

from collections.abc import Iterator
from math import isqrt
from typing import Literal, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.config.network import NetworkSettings
from lfds.nn.input_checks import check_count
from lfds.nn.spatial import Activation
from lfds.nn.structures.base import Sketch, Structure, Symmetry


@final
class Image(Structure):
    """A grid of slots, row after row.

    Symmetry: shifting an image that stays clear of the border shifts the output.

    Args:
        height: Number of rows.
        width: Number of columns.
        kernel_size: Kernel size of the convolution; odd.
    """

    channels_first = True
    signal_dims = (4,)

    def __init__(self, height: int = 8, width: int = 8, *, kernel_size: int = 3) -> None:
        height = check_count("height of Image", height)
        width = check_count("width of Image", width)
        super().__init__(height * width)
        check_kernel_size(kernel_size)
        self.height, self.width, self.kernel_size = height, width, kernel_size

    @classmethod
    def from_settings(cls, settings: NetworkSettings) -> "Image":
        side = isqrt(settings.slots)
        return cls(side, side)

    def layer(self, channels: int) -> "ImageLayer":
        return ImageLayer(channels, self.kernel_size)

    def laplacian(self) -> Float[Tensor, "slots slots"]:
        rows, columns = path_laplacian(self.height), path_laplacian(self.width)
        return torch.kron(rows, torch.eye(self.width)) + torch.kron(torch.eye(self.height), columns)

    def sketch(self) -> Sketch:
        return Sketch("Image", "grid", size=(self.height, self.width))

    def signal(self, slots: Float[Tensor, "graphs slots channels"]) -> tuple[Tensor, ...]:
        """An image [graphs, channels, height, width]; only the view changes, nothing is copied."""
        return (slots.unflatten(1, (self.height, self.width)).permute(0, 3, 1, 2),)

    def symmetries(self) -> Iterator[Symmetry]:
        slots = torch.arange(self.num_slots).view(self.height, self.width)
        for axis, way in ((0, "down"), (1, "right")):
            inner = interior(slots.shape[axis], self.kernel_size)
            if inner.any():
                support = inner[:, None] if axis == 0 else inner[None, :]
                yield Symmetry(
                    f"shifted one slot {way}",
                    slots.roll(1, dims=axis).flatten(),
                    self,
                    support.expand_as(slots).flatten(),
                )

    def extra_repr(self) -> str:
        return f"{self.height}x{self.width} slots"


@final
class ImageLayer(nn.Module):
    r"""A 2-D convolution of the grid, :math:`\mathbf{Y} \leftarrow f(\mathbf{Y} * \mathbf{K})`."""

    def __init__(
        self,
        channels: int,
        kernel_size: int,
        padding_mode: Literal["zeros", "circular"] = "zeros",
    ) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(
            channels, channels, kernel_size, padding="same", padding_mode=padding_mode
        )
        self.activation = Activation(channels)

    def forward(
        self, slots: Float[Tensor, "graphs slots channels"], structure: Structure
    ) -> Float[Tensor, "graphs slots channels"]:
        (pixels,) = structure.signal(slots)
        mixed: Tensor = self.convolution(pixels)
        activated: Tensor = self.activation(mixed.permute(0, 2, 3, 1).flatten(1, 2))
        return activated

    def reset_parameters(self) -> None:
        self.convolution.reset_parameters()
        self.activation.reset_parameters()


def path_laplacian(length: int) -> Tensor:
    """The Laplacian of a path graph."""
    steps = torch.eye(length)[1:] - torch.eye(length)[:-1]
    return steps.T @ steps


def check_kernel_size(kernel_size: int) -> None:
    """``kernel_size`` is odd."""
    if check_count("kernel_size", kernel_size) % 2 == 0:
        raise ValueError(
            f"kernel_size must be odd, so that the kernel has a centre, got {kernel_size}; "
            f"use {kernel_size + 1}"
        )


def interior(length: int, kernel_size: int) -> Tensor:
    """The positions from which a shift by one, seen through the kernel, meets no border."""
    position = torch.arange(length)
    reach = kernel_size // 2
    return (position >= reach) & (position <= length - 2 - reach)
