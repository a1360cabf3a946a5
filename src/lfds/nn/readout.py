"""The pooling on a latent structure, behind the interface of all poolings of the comparison."""

from math import isqrt
from typing import final

from jaxtyping import Float, Int
from torch import Tensor

from lfds.nn.edges import Edges
from lfds.nn.graph_pooling import GraphPooling
from lfds.nn.network_settings import NetworkSettings
from lfds.nn.pooling import LFDSPool
from lfds.nn.structures import (
    Array,
    Image,
    LearnedGraph,
    LearnedSpectrum,
    Loop,
    Sequence,
    Structure,
)


@final
class LatentReadout(GraphPooling):
    """:class:`LFDSPool` on the last layer of the base.

    Args:
        channels: Width of the nodes.
        settings: Says which structure, and all options of the pooling.
    """

    def __init__(self, channels: int, settings: NetworkSettings) -> None:
        pool = LFDSPool(
            channels,
            make_structure(settings),
            anchors=settings.anchors,
            reduction=settings.reduction,
            slot_dropout=settings.slot_dropout,
            blend=settings.blend,
        )
        super().__init__(channels, pool.out_channels)
        self.pool = pool

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 out_channels"]:
        return self.pool(nodes, ptr=ptr)

    def penalty(self) -> Float[Tensor, ""]:
        return self.pool.penalty()


def make_structure(settings: NetworkSettings) -> Structure:
    """Build the structure that the pooling of ``settings`` is named after."""
    slots = settings.slots
    match settings.pool:
        case "image":
            return Image(isqrt(slots), isqrt(slots))
        case "array":
            return Array(slots)
        case "sequence":
            return Sequence(slots)
        case "loop":
            return Loop(slots)
        case "learned-spatial":
            return LearnedGraph(slots, normalized=settings.normalized_adjacency)
        case "learned-spectral":
            return LearnedSpectrum(slots, weight=settings.orthonormality)
    raise ValueError(f"{settings.pool!r} is no latent structure")
