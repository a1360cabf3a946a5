"""The interface of structures: a fixed number of slots, and layers that respect them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from lfds.config.network import NetworkSettings
from lfds.nn.input_checks import check_count


class Structure(nn.Module, ABC):
    """A fixed set of slots, and how they are arranged.

    A structure has no channels.  It makes the latent layers of a pooling, and each of them is
    called with the same structure, so that whatever is learned about the arrangement (an
    adjacency, a basis) is shared by all layers.

    Attributes:
        num_slots: Number of slots.
        least_slots: The smallest number of slots there may be.
        channels_first: Whether channels come before slots in :meth:`signal`, as convolutions want.
        signal_dims: Numbers of dimensions that :meth:`signal` may have.
    """

    num_slots: int
    least_slots: ClassVar[int] = 2
    channels_first: ClassVar[bool] = False
    signal_dims: ClassVar[tuple[int, ...]] = (3,)

    def __init__(self, num_slots: int) -> None:
        super().__init__()
        self.num_slots = check_count(
            f"num_slots of {type(self).__name__}", num_slots, least=self.least_slots
        )

    @classmethod
    def from_settings(cls, settings: NetworkSettings) -> "Structure":
        """Build the structure that the settings of a network ask for."""
        return cls(settings.slots)

    @abstractmethod
    def layer(self, channels: int) -> nn.Module:
        """Make a latent layer of this structure, ``channels`` wide.

        It is called with the slots [graphs, slots, channels] and the structure, and has a method
        ``reset_parameters``.
        """

    def laplacian(self) -> Float[Tensor, "slots slots"] | None:
        """The Laplacian along which anchors may be smooth; None where neighbours are not fixed."""
        return None

    @abstractmethod
    def sketch(self) -> "Sketch":
        """How the structure is drawn."""

    def signal(self, slots: Float[Tensor, "graphs slots channels"]) -> tuple[Tensor, ...]:
        """What a network of the user's own on this structure is called with."""
        return (slots,)

    @abstractmethod
    def symmetries(self) -> "Iterator[Symmetry]":
        """Permutations of the slots under which the layers of this structure are equivariant."""

    def penalty(self) -> Float[Tensor, ""]:
        """What to add to the loss; zero for most structures."""
        return torch.zeros(())

    def reset_parameters(self) -> None:
        """Draw the parameters of the structure anew."""

    def extra_repr(self) -> str:
        return f"{self.num_slots} slots"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.extra_repr()})"


@dataclass(frozen=True, eq=False)
class Sketch:
    """How a structure is drawn.

    Attributes:
        name: What the structure is called in a caption.
        layout: ``grid`` of boxes, ``circle`` of sectors, ``line`` of discs, ``boxes`` in a line,
            ``graph`` of discs with its edges, or a line of slots beside their ``basis``.
        size: Rows and columns of a grid.
        matrix: The adjacency of a graph, or the basis.
    """

    name: str
    layout: Literal["grid", "circle", "line", "boxes", "graph", "basis"]
    size: tuple[int, int] = (0, 0)
    matrix: Tensor | None = None


@dataclass(frozen=True)
class Symmetry:
    """A permutation of the slots, and the structure it leads to.

    Layers are equivariant: ``layer(slots[:, order], image) == layer(slots, structure)[:, order]``.

    Attributes:
        name: What the permutation does, for messages.
        order: The new slot ``k`` is the old slot ``order[k]``.
        image: The structure after the permutation; itself, where it is symmetric.
        support: Where the slots may differ from zero for this to hold; None for everywhere.
    """

    name: str
    order: Int[Tensor, "slots"]
    image: Structure
    support: Bool[Tensor, "slots"] | None = None
