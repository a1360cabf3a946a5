"""What every structure is: a fixed number of slots, and layers that respect their arrangement."""

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

    A structure knows nothing of channels.  It makes the latent layers of a pooling, and each of
    them is handed the one structure again when it runs, so that whatever is learned about the
    arrangement (an adjacency, a basis) is one and the same for all layers.

    Attributes:
        num_slots: Number of slots.
        channels_first: Whether channels come before slots in :meth:`signal`, as convolutions want.
        signal_dims: Numbers of dimensions that :meth:`signal` may have.
    """

    num_slots: int
    channels_first: ClassVar[bool] = False
    signal_dims: ClassVar[tuple[int, ...]] = (3,)

    def __init__(self, num_slots: int) -> None:
        super().__init__()
        # With a single slot there is nothing to arrange.
        self.num_slots = check_count(f"num_slots of {type(self).__name__}", num_slots, least=2)

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

    @abstractmethod
    def sketch(self) -> "Sketch":
        """How the structure is drawn."""

    def signal(self, slots: Float[Tensor, "graphs slots channels"]) -> tuple[Tensor, ...]:
        """What a network of the user's own on this structure is called with."""
        return (slots,)

    @abstractmethod
    def symmetries(self) -> "Iterator[Symmetry]":
        """Renamings of the slots that the layers of this structure must not notice."""

    def penalty(self) -> Float[Tensor, ""]:
        """What to add to the loss so that the structure stays what it claims to be."""
        return torch.zeros(())

    def reset_parameters(self) -> None:
        """Draw what is learned about the arrangement anew."""

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
    """A renaming of the slots, and the structure it leads to.

    The law: renaming before or after a layer is the same thing,
    ``layer(slots[:, order], twin) == layer(slots, structure)[:, order]``.

    Attributes:
        name: What was done, in words.
        order: The new slot ``k`` is the old slot ``order[k]``.
        twin: The structure after the renaming; itself, where it is symmetric.
        support: Where the slots may be other than zero for the law to hold; None for everywhere.
    """

    name: str
    order: Int[Tensor, "slots"]
    twin: Structure
    support: Bool[Tensor, "slots"] | None = None
