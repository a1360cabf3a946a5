"""The pooling on latent structures, behind the interface of all poolings of the comparison."""

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from lfds.config.network import NetworkSettings
from lfds.config.registry import POOLINGS
from lfds.nn.baselines.base import GraphPooling
from lfds.nn.ops.edges import Edges
from lfds.nn.pool import LatentPool


@final
class LFDSPooling(GraphPooling):
    """One :class:`LatentPool` or several side by side, on the last layer of the base or on all.

    With every layer a node takes in more of its neighbours. What it was itself, and so how much
    there is of what in a graph, shows in the first layers more plainly than in the last; so all of
    them are mapped to the width of the slots by default. Structures side by side use the same map.

    Args:
        settings: Says which structures, on which layers, and all options of the layer.
    """

    @classmethod
    def from_settings(cls, settings: NetworkSettings) -> "LFDSPooling":
        return cls(settings)

    def __init__(self, settings: NetworkSettings) -> None:
        uses_all = settings.pooled_layers == "all" and settings.layers > 1
        in_channels = settings.layers * settings.width if uses_all else settings.width
        *others, last = settings.structures
        pools = [self._pool(name, settings, settings.width) for name in others]
        pools.append(self._pool(last, settings, in_channels))
        for pool in pools[:-1]:
            pool.share_input_map(pools[-1])
        super().__init__(in_channels, sum(pool.out_channels for pool in pools))
        self.uses_all_layers = uses_all
        self.pools: Sequence[LatentPool] = nn.ModuleList(pools)  # type: ignore[assignment]

    @staticmethod
    def _pool(name: str, settings: NetworkSettings, in_channels: int) -> LatentPool:
        return LatentPool(
            in_channels,
            POOLINGS[name].load().from_settings(settings),
            hidden_channels=settings.width if in_channels != settings.width else None,
            **settings.layer_options(),
        )

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 out_channels"]:
        return torch.cat([pool(nodes, ptr=ptr) for pool in self.pools], dim=1)

    def penalty(self) -> Float[Tensor, ""]:
        return sum((pool.penalty() for pool in self.pools), start=torch.zeros(()))
