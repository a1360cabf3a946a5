"""The pooling on a latent structure, behind the interface of all poolings of the comparison."""

from collections import abc
from math import isqrt
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lfds.config.network import NetworkSettings
from lfds.nn.baselines.base import GraphPooling
from lfds.nn.ops.edges import Edges
from lfds.nn.pool import LFDSPool
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
class LFDSPooling(GraphPooling):
    r"""One :class:`LFDSPool` or several side by side, on the last layer of the base or on a mix.

    .. math::
        \mathbf{X} = \sum_l \mathbf{X}_l \mathbf{M}_l

    With every layer a node takes in more of its neighbours; what it was itself, and so how much
    there is of what in a graph, the first layers tell more plainly than the last.

    Args:
        channels: Width of a layer.
        settings: Says which structures, on which layers, and all options of the pooling.
    """

    def __init__(self, channels: int, settings: NetworkSettings) -> None:
        mixes = settings.pooled_layers == "all" and settings.layers > 1
        pools = [
            LFDSPool(
                channels,
                make_structure(name, settings),
                anchors=settings.anchors,
                reduction=settings.reduction,
                slot_dropout=settings.slot_dropout,
                blend=settings.blend,
                counts=settings.counts,
                readout=settings.readout,
                node_norm=settings.node_norm,
                depth=settings.depth,
            )
            for name in settings.structures
        ]
        width = settings.layers * channels if mixes else channels
        super().__init__(width, sum(pool.out_channels for pool in pools))
        self.uses_all_layers = mixes
        self.mix = nn.Linear(width, channels, bias=False) if mixes else None
        self.pools: abc.Sequence[LFDSPool] = nn.ModuleList(pools)  # type: ignore[assignment]

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 out_channels"]:
        x = nodes if self.mix is None else self.mix(nodes)
        return torch.cat([pool(x, ptr=ptr) for pool in self.pools], dim=1)

    def penalty(self) -> Float[Tensor, ""]:
        return sum((pool.penalty() for pool in self.pools), start=torch.zeros(()))


def make_structure(name: str, settings: NetworkSettings) -> Structure:
    """Build a structure with the options of ``settings``."""
    slots = settings.slots
    match name:
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
    raise ValueError(f"{name!r} is no latent structure")
