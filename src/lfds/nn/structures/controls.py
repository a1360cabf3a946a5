"""Structures for ablations: what is left of the method when the structure is taken away."""

from collections.abc import Iterator
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lfds.nn.spatial import DenseAdjacency, SpatialLayer
from lfds.nn.structures.base import Sketch, Structure, Symmetry
from lfds.nn.structures.graph import GraphStructure


@final
class Isolated(GraphStructure):
    """Slots that do not exchange anything.

    Symmetry: permuting the slots permutes the output.

    Args:
        num_slots: Number of slots.
    """

    @property
    def adjacency(self) -> Float[Tensor, "slots slots"]:
        return torch.zeros(self.num_slots, self.num_slots)

    def sum_of_neighbours(
        self, slots: Float[Tensor, "graphs slots channels"]
    ) -> Float[Tensor, "graphs slots channels"]:
        return torch.zeros_like(slots)

    def symmetries(self) -> Iterator[Symmetry]:
        yield Symmetry("permuted", torch.arange(self.num_slots).flip(0).roll(1), self)


@final
class OneSlot(GraphStructure):
    """A single slot: the mean over the nodes, after the same layers.

    Args:
        num_slots: Has no effect: there is one.
    """

    least_slots = 1

    def __init__(self, num_slots: int = 1) -> None:
        super().__init__(1)

    @property
    def adjacency(self) -> Float[Tensor, "slots slots"]:
        return torch.zeros(1, 1)

    def sum_of_neighbours(
        self, slots: Float[Tensor, "graphs slots channels"]
    ) -> Float[Tensor, "graphs slots channels"]:
        return torch.zeros_like(slots)

    def symmetries(self) -> Iterator[Symmetry]:
        yield Symmetry("left as it is", torch.zeros(1, dtype=torch.long), self)


@final
class Complete(GraphStructure):
    """Slots that all exchange with all: every slot gets the mean of the others.

    Symmetry: permuting the slots permutes the output.

    Args:
        num_slots: Number of slots.
    """

    @property
    def adjacency(self) -> Float[Tensor, "slots slots"]:
        return torch.ones(self.num_slots, self.num_slots) - torch.eye(self.num_slots)

    def sum_of_neighbours(
        self, slots: Float[Tensor, "graphs slots channels"]
    ) -> Float[Tensor, "graphs slots channels"]:
        return (slots.sum(dim=1, keepdim=True) - slots) / (self.num_slots - 1)

    def laplacian(self) -> None:
        """None: all slots are equally far from each other."""

    def symmetries(self) -> Iterator[Symmetry]:
        yield Symmetry("permuted", torch.arange(self.num_slots).flip(0).roll(1), self)


@final
class RandomGraph(GraphStructure):
    """A fixed random graph with as many edges as a loop.

    Symmetry: permuting the slots, in the graph and in the signal, permutes the output.

    Args:
        num_slots: Number of slots, at least 3.
        seed: Seed of the graph.
    """

    matrix: Tensor

    def __init__(self, num_slots: int = 64, *, seed: int = 0) -> None:
        super().__init__(num_slots)
        generator = torch.Generator().manual_seed(seed)
        pairs = torch.triu_indices(num_slots, num_slots, offset=1)
        drawn = torch.randperm(pairs.shape[1], generator=generator)[:num_slots]
        matrix = torch.zeros(num_slots, num_slots)
        matrix[pairs[0, drawn], pairs[1, drawn]] = 1
        self.register_buffer("matrix", matrix + matrix.T)

    @property
    def adjacency(self) -> Float[Tensor, "slots slots"]:
        return self.matrix

    def sum_of_neighbours(
        self, slots: Float[Tensor, "graphs slots channels"]
    ) -> Float[Tensor, "graphs slots channels"]:
        return self.matrix.to(slots.dtype) @ slots

    def symmetries(self) -> Iterator[Symmetry]:
        order = torch.arange(self.num_slots).flip(0).roll(1)
        permuted = RandomGraph(self.num_slots)
        permuted.matrix = self.matrix[order][:, order]
        yield Symmetry("permuted", order, permuted)


@final
class Attention(Structure):
    """Slots without a structure that exchange by self-attention.

    Symmetry: permuting the slots permutes the output.

    Args:
        num_slots: Number of slots.
    """

    def layer(self, channels: int) -> "AttentionLayer":
        return AttentionLayer(channels)

    def sketch(self) -> Sketch:
        return Sketch("Attention", "line")

    def symmetries(self) -> Iterator[Symmetry]:
        yield Symmetry("permuted", torch.arange(self.num_slots).flip(0).roll(1), self)


@final
class AttentionLayer(nn.Module):
    r"""Self-attention among the slots, in place of the sum over neighbours.

    .. math::
        \mathbf{Y} \leftarrow \mathrm{softmax}\Big(\frac{\mathbf{Q} \mathbf{K}^\top}{\sqrt{d}}\Big)
            f(\mathbf{Y} \boldsymbol{\Phi}_2) + f(\mathbf{Y} \boldsymbol{\Phi}_1)
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.spatial = SpatialLayer(channels, channels)
        self.queries_and_keys = nn.Linear(channels, 2 * channels, bias=False)

    def forward(
        self, slots: Float[Tensor, "graphs slots channels"], structure: Attention
    ) -> Float[Tensor, "graphs slots channels"]:
        queries, keys = self.queries_and_keys(slots).chunk(2, dim=-1)
        weights = (queries @ keys.mT / queries.shape[-1] ** 0.5).softmax(dim=-1)
        mixed: Tensor = self.spatial(slots, DenseAdjacency(weights))
        return mixed

    def reset_parameters(self) -> None:
        self.spatial.reset_parameters()
        self.queries_and_keys.reset_parameters()
