"""Sort-Node: the first nodes in a learned order, and 1-D convolutions along them (DGCNN)."""

from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from lfds.config.network import NetworkSettings
from lfds.nn.baselines.base import GraphPooling
from lfds.nn.ops.edges import Edges
from lfds.nn.ops.ragged import index_from_ptr


@final
class SortPool(GraphPooling):
    """DGCNN's readout, of Zhang et al., *An End-to-End Deep Learning Architecture for Graphs*.

    The nodes of a graph are sorted by their last channel, the largest first; the first of them go
    through a convolution over one node at a time, a maximum over pairs and a convolution over five
    places. A graph with fewer nodes ends in zeros.

    Args:
        channels: Width of the nodes: all layers of the base side by side.
        sorted_nodes: Number of nodes kept.
    """

    replaces_readout = True

    @classmethod
    def from_settings(cls, settings: NetworkSettings) -> "SortPool":
        return cls(settings.layers * settings.width, settings.sorted_nodes)

    def __init__(self, channels: int, sorted_nodes: int = 30) -> None:
        if sorted_nodes < 10:
            raise ValueError(
                f"sorted_nodes must be at least 10, got {sorted_nodes}; "
                "a convolution over five pairs follows"
            )
        super().__init__(channels, 32 * (sorted_nodes // 2 - 4))
        self.sorted_nodes = sorted_nodes
        self.by_node = nn.Linear(channels, 16)
        self.along = nn.Conv1d(16, 32, kernel_size=5)

    def forward(
        self, nodes: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], edges: Edges
    ) -> Float[Tensor, "boundaries-1 out_channels"]:
        first = first_nodes(nodes, ptr, self.sorted_nodes)
        seen = F.relu(self.by_node(first)).mT
        return F.relu(self.along(F.max_pool1d(seen, 2))).flatten(1)


def first_nodes(
    x: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"], count: int
) -> Float[Tensor, "boundaries-1 {count} channels"]:
    """The ``count`` nodes of every graph that come first in :func:`sorted_order`, then zeros."""
    order = sorted_order(x.detach(), ptr)
    graph = index_from_ptr(ptr, x.shape[0])
    place = torch.arange(x.shape[0], device=x.device) - ptr[graph]
    first = place < count
    seats = graph[first] * count + place[first]
    rows = x.new_zeros((ptr.shape[0] - 1) * count, x.shape[1])
    return rows.index_copy(0, seats, x[order[first]]).view(-1, count, x.shape[1])


def sorted_order(
    x: Float[Tensor, "nodes channels"], ptr: Int[Tensor, "boundaries"]
) -> Int[Tensor, "nodes"]:
    """Sort the nodes of each graph by their last channel, the largest first.

    Ties are broken by the channel before, and so on; those that tie in all channels
    are the same to whatever follows.
    """
    graph = index_from_ptr(ptr, x.shape[0])
    last = x[:, -1]
    order = last.argsort(descending=True, stable=True)
    order = order[graph[order].argsort(stable=True)]
    same = (last[order[1:]] == last[order[:-1]]) & (graph[order[1:]] == graph[order[:-1]])
    if not same.any():
        return order
    # Only the runs of equals are sorted by all channels, in the places that they hold together.
    tied = F.pad(same, (1, 0)) | F.pad(same, (0, 1))
    places, rows = tied.nonzero()[:, 0], order[tied]
    keys = np.vstack([-x[rows].T.cpu().double().numpy(), graph[rows].cpu().numpy()])
    return order.index_copy(0, places, rows[torch.from_numpy(np.lexsort(keys)).to(rows.device)])
