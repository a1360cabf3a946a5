"""What is timed: the floor, our operator and layer, and poolings of PyG at the same width."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch_geometric.nn import TopKPooling, aggr, dense_diff_pool
from torch_geometric.nn.pool import MemPooling, global_max_pool
from torch_geometric.utils import to_dense_adj, to_dense_batch

import lfds
from benchmarks.batches import CHANNELS, Batch

SLOTS = 64


class Floor(nn.Module):
    """The arithmetic of ``distribute`` as if all nodes were one graph: two plain products."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors = nn.Parameter(torch.randn(SLOTS, CHANNELS) / 8)

    def forward(self, batch: Batch) -> Tensor:
        return (batch.x @ self.anchors.T).softmax(dim=-1).T @ batch.x


class Distribute(nn.Module):
    """Our operator alone."""

    def __init__(self, low_memory: bool, reduction: str = "sum") -> None:
        super().__init__()
        self.anchors = nn.Parameter(torch.randn(SLOTS, CHANNELS) / 8)
        self.options = {"low_memory": low_memory, "reduction": reduction}

    def forward(self, batch: Batch) -> Tensor:
        return lfds.nn.distribute(batch.x, self.anchors, batch.ptr, **self.options)


class Pool(nn.Module):
    """Our layer as in the paper, which has as many slots as the peers have clusters."""

    def __init__(self, structure: str, **options: object) -> None:
        super().__init__()
        self.pool = lfds.LFDSPool.paper(CHANNELS, structure, **options)

    def forward(self, batch: Batch) -> Tensor:
        return self.pool(batch.x, ptr=batch.ptr)


class Peer(nn.Module):
    """An aggregation of PyG."""

    def __init__(self, aggregation: nn.Module) -> None:
        super().__init__()
        self.aggregation = aggregation

    def forward(self, batch: Batch) -> Tensor:
        return self.aggregation(batch.x, batch.index, dim_size=batch.num_graphs)


class TopK(nn.Module):
    """Keep half of the nodes by score, and take the maximum over them."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = TopKPooling(CHANNELS, ratio=0.5)

    def forward(self, batch: Batch) -> Tensor:
        x, _, _, index, _, _ = self.pool(batch.x, batch.edge_index, batch=batch.index)
        return global_max_pool(x, index, batch.num_graphs)


class Memory(nn.Module):
    """Four heads of soft assignments to keys, then the maximum over the clusters."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = MemPooling(CHANNELS, CHANNELS, heads=4, num_clusters=SLOTS)

    def forward(self, batch: Batch) -> Tensor:
        slots, _ = self.pool(batch.x, batch.index)
        return slots.amax(dim=1)


class Diff(nn.Module):
    """Dense DiffPool: a linear assignment, and the pooled adjacency with its losses."""

    def __init__(self) -> None:
        super().__init__()
        self.assign = nn.Linear(CHANNELS, SLOTS)

    def forward(self, batch: Batch) -> Tensor:
        x, mask = to_dense_batch(batch.x, batch.index)
        adjacency = to_dense_adj(batch.edge_index, batch.index, max_num_nodes=x.shape[1])
        slots, pooled, link, entropy = dense_diff_pool(x, adjacency, self.assign(x), mask)
        return slots.amax(dim=1) + (link + entropy) + pooled.mean(dim=(1, 2))[:, None]


CONTESTANTS: dict[str, Callable[[], nn.Module]] = {
    "floor": Floor,
    "distribute": lambda: Distribute(low_memory=False),
    "distribute, mean": lambda: Distribute(low_memory=False, reduction="mean"),
    "distribute, mass": lambda: Distribute(low_memory=False, reduction="mass"),
    "distribute, low memory": lambda: Distribute(low_memory=True),
    "LFDSPool loop": lambda: Pool("loop"),
    "LFDSPool loop, low memory": lambda: Pool("loop", low_memory=True),
    "LFDSPool sequence": lambda: Pool("sequence"),
    "LFDSPool array": lambda: Pool("array"),
    "LFDSPool image": lambda: Pool("image"),
    "LFDSPool learned-spatial": lambda: Pool("learned-spatial"),
    "LFDSPool learned-spectral": lambda: Pool("learned-spectral"),
    "LFDSPool loop, mixture": lambda: Pool("loop", anchors="mixture"),
    "Max": lambda: Peer(aggr.MaxAggregation()),
    "Sort(30)": lambda: Peer(aggr.SortAggregation(30)),
    "TopK": TopK,
    "GMT(64)": lambda: Peer(aggr.GraphMultisetTransformer(CHANNELS, k=SLOTS, heads=4)),
    "SetTransformer": lambda: Peer(aggr.SetTransformerAggregation(CHANNELS, heads=4)),
    "MemPooling(64)": Memory,
    "DiffPool(64), dense": Diff,
}
