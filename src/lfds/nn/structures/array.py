"""Slots in a row, with a 1-D convolution."""

from collections.abc import Iterator
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.spatial import Activation
from lfds.nn.structures.base import Sketch, Structure, Symmetry
from lfds.nn.structures.image import check_kernel_size, interior, path_laplacian


@final
class Array(Structure):
    """A row of slots.

    Unlike on a :class:`Sequence`, a convolution distinguishes left and right.
    Symmetry: shifting a signal that stays clear of both ends shifts the output.

    Args:
        num_slots: Length of the row.
        kernel_size: Kernel size of the convolution; odd.
    """

    channels_first = True

    def __init__(self, num_slots: int = 64, *, kernel_size: int = 3) -> None:
        super().__init__(num_slots)
        check_kernel_size(kernel_size)
        self.kernel_size = kernel_size

    def layer(self, channels: int) -> "ArrayLayer":
        return ArrayLayer(channels, self.kernel_size)

    def laplacian(self) -> Float[Tensor, "slots slots"]:
        return path_laplacian(self.num_slots)

    def sketch(self) -> Sketch:
        return Sketch("Array", "boxes")

    def signal(self, slots: Float[Tensor, "graphs slots channels"]) -> tuple[Tensor, ...]:
        """A signal [graphs, channels, slots]."""
        return (slots.mT,)

    def symmetries(self) -> Iterator[Symmetry]:
        support = interior(self.num_slots, self.kernel_size)
        if support.any():
            order = torch.arange(self.num_slots).roll(1)
            yield Symmetry("shifted one slot right", order, self, support)


@final
class ArrayLayer(nn.Module):
    r"""A 1-D convolution over the row: :math:`\mathbf{Y} \leftarrow f(\mathbf{Y} * \mathbf{K})`."""

    def __init__(self, channels: int, kernel_size: int) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(channels, channels, kernel_size, padding="same")
        self.activation = Activation(channels)

    def forward(
        self, slots: Float[Tensor, "graphs slots channels"], structure: Array
    ) -> Float[Tensor, "graphs slots channels"]:
        mixed: Tensor = self.convolution(*structure.signal(slots))
        activated: Tensor = self.activation(mixed.mT)
        return activated

    def reset_parameters(self) -> None:
        self.convolution.reset_parameters()
        self.activation.reset_parameters()
