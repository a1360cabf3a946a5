"""Flat poolings: one maximum, mean or sum over the nodes of a graph, learned at most in weights."""

from abc import ABC
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lfds.config.network import NetworkSettings
from lfds.nn.baselines.base import GraphPooling
from lfds.nn.chunks import chunks_of, is_large
from lfds.nn.ops.edges import Edges
from lfds.nn.ops.ragged import index_from_ptr
from lfds.nn.ops.segment import ragged_max, ragged_mean, ragged_moments, ragged_sum
from lfds.nn.ops.segment_matmul import weighted_sums
from lfds.nn.spatial import Activation


class FlatPool(GraphPooling, ABC):
    """A pooling of all layers of the base, side by side, that is all that the head sees."""

    replaces_readout = True

    @classmethod
    def from_settings(cls, settings: NetworkSettings) -> "FlatPool":
        return cls(settings.layers * settings.width)

    def __init__(self, channels: int, out_channels: int | None = None) -> None:
        super().__init__(channels, out_channels or channels)


@final
class MaxPool(FlatPool):
    """The largest value of every channel."""

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 channels"]:
        return ragged_max(nodes, ptr)


@final
class MeanPool(FlatPool):
    """The mean of every channel."""

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 channels"]:
        return ragged_mean(nodes, ptr)


@final
class SumPool(FlatPool):
    """The sum of every channel."""

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 channels"]:
        return ragged_sum(nodes, ptr)


@final
class MaxMeanPool(FlatPool):
    """The largest value and the mean of every channel, side by side."""

    def __init__(self, channels: int) -> None:
        super().__init__(channels, 2 * channels)

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 out_channels"]:
        return torch.cat([ragged_max(nodes, ptr), ragged_mean(nodes, ptr)], dim=1)


@final
class StatsPool(FlatPool):
    r"""Maximum, mean and standard deviation of every channel, and :math:`\log(1 + n)`."""

    def __init__(self, channels: int) -> None:
        super().__init__(channels, 3 * channels + 1)

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 out_channels"]:
        statistics = _statistics_in_chunks if is_large(nodes) else _statistics
        count = ptr.diff().to(nodes.dtype).log1p()[:, None]
        return torch.cat([*statistics(nodes, ptr), count], dim=1)


def _statistics(nodes: Tensor, ptr: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Maximum, mean and standard deviation of every channel."""
    mean, variance = ragged_moments(nodes, ptr)
    return ragged_max(nodes, ptr), mean, _root(variance)


def _statistics_in_chunks(nodes: Tensor, ptr: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same of very many nodes."""
    shape, size = (ptr.shape[0] - 1, nodes.shape[1]), ptr.diff()[:, None]
    largest = nodes.new_full(shape, -torch.inf)
    total, squares = nodes.new_zeros(shape), nodes.new_zeros(shape)
    for some, within in chunks_of(nodes, ptr):
        total += ragged_sum(some, within)
        found = ragged_max(some, within)
        present = (within.diff() > 0)[:, None]
        largest = torch.where(present, torch.maximum(largest, found), largest)
    mean = total / size.clamp(min=1)
    for some, within in chunks_of(nodes, ptr):
        centred = some - mean[index_from_ptr(within, some.shape[0])]
        squares += ragged_sum(centred.square_(), within)
    return torch.where(size > 0, largest, 0.0), mean, _root(squares / size.clamp(min=1))


def _root(variance: Tensor) -> Tensor:
    # The root has no slope at zero: nodes that are all the same have a variance of zero.
    return (variance + 1e-8).sqrt()


@final
class MaxPerceptronPool(FlatPool):
    """The maximum, and a perceptron on it with about as many parameters as a latent structure.

    It controls for layers and parameters: what a structure gains beyond it is not due to those.
    """

    @classmethod
    def from_settings(cls, settings: NetworkSettings) -> "MaxPerceptronPool":
        return cls(settings.layers * settings.width, settings.width)

    def __init__(self, channels: int, width: int = 64) -> None:
        super().__init__(channels, channels + 4 * width)
        self.perceptron = nn.Sequential(
            nn.Linear(channels, width, bias=False),
            Activation(width),
            nn.Linear(width, 4 * width, bias=False),
            Activation(4 * width),
        )

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 out_channels"]:
        largest = ragged_max(nodes, ptr)
        return torch.cat([largest, self.perceptron(largest)], dim=1)


@final
class AttentionPool(FlatPool):
    r"""A mean whose weights are learned, as in gated graph sequence networks.

    .. math::
        \mathbf{z}_g = \sum_{i \in g} \alpha_i \mathbf{x}_i, \qquad
        \boldsymbol{\alpha} = \mathrm{softmax}_{i \in g}(h(\mathbf{x}_i))

    The function :math:`h` is a perceptron with one hidden layer.
    """

    def __init__(self, channels: int) -> None:
        super().__init__(channels, channels)
        self.gate = nn.Sequential(nn.Linear(channels, channels), nn.ReLU(), nn.Linear(channels, 1))

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 channels"]:
        score: Tensor = self.gate(nodes)
        graph = index_from_ptr(ptr, nodes.shape[0])
        # Less the largest of the graph: the same quotient, and no overflow.
        weight = (score - ragged_max(score.detach(), ptr)[graph]).exp()
        total = ragged_sum(weight, ptr)
        # The largest weight is one, so only a graph without nodes is below.
        return weighted_sums(weight, nodes, ptr)[:, 0] / total.clamp(min=1)
