"""A graph of slots whose adjacency is learned."""

from collections.abc import Iterator
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.config.network import NetworkSettings
from lfds.nn.structures.base import Sketch, Symmetry
from lfds.nn.structures.graph import GraphStructure, normalized_rows


@final
class LearnedGraph(GraphStructure):
    r"""Slots whose adjacency is learned along with everything else.

    .. math::
        \mathbf{A}' = \mathbf{S} - \mathrm{Diag}(\mathrm{diag}(\mathbf{S})), \qquad
        \mathbf{S} = \sigma(\mathbf{B} + \mathbf{B}^\top)

    Symmetric, between 0 and 1, and zero on the diagonal whatever :math:`\mathbf{B}` is.
    Symmetry: permuting the slots, in :math:`\mathbf{B}` and in the signal, permutes the output.

    Args:
        num_slots: Number of slots.
        normalized: Aggregate by the mean over the neighbours instead of their sum. All weights
            start near one half, so a sum starts at half the sum of all slots for every slot; the
            paper takes the sum.
    """

    def __init__(self, num_slots: int = 64, *, normalized: bool = False) -> None:
        super().__init__(num_slots)
        self.normalized = normalized
        self.logits = nn.Parameter(torch.empty(num_slots, num_slots))
        self.reset_parameters()

    @classmethod
    def from_settings(cls, settings: NetworkSettings) -> "LearnedGraph":
        return cls(settings.slots, normalized=settings.normalized_adjacency)

    def reset_parameters(self) -> None:
        nn.init.normal_(self.logits, std=0.1)

    @property
    def adjacency(self) -> Float[Tensor, "slots slots"]:
        # One half twice, not all at once: a vectorised sigmoid may round equal logits unequally.
        upper = (self.logits + self.logits.T).sigmoid().triu(diagonal=1)
        return upper + upper.T

    def sum_of_neighbours(
        self, slots: Float[Tensor, "graphs slots channels"]
    ) -> Float[Tensor, "graphs slots channels"]:
        weights = normalized_rows(self.adjacency) if self.normalized else self.adjacency
        return weights.to(slots.dtype) @ slots

    def laplacian(self) -> None:
        """None: who is whose neighbour changes while training."""

    def sketch(self) -> Sketch:
        return Sketch("Learned graph", "graph", matrix=self.adjacency)

    def symmetries(self) -> Iterator[Symmetry]:
        order = torch.arange(self.num_slots).flip(0).roll(1)
        permuted = LearnedGraph(self.num_slots, normalized=self.normalized).to(self.logits.dtype)
        with torch.no_grad():
            permuted.logits.copy_(self.logits[order][:, order])
        yield Symmetry("permuted", order, permuted)
