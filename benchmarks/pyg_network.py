"""The network of the comparison as one would write it with PyG, for `network` and `predict`."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing, dense_diff_pool, global_max_pool
from torch_geometric.nn.aggr import GraphMultisetTransformer
from torch_geometric.utils import to_dense_adj, to_dense_batch

WIDTH, CLUSTERS, NODE_DROPOUT = 64, 64, 0.2
READ_AS_CLUSTERS = {"readout": "max", "node_norm": False, "pooled_layers": "last", "counts": False}
"""Options with which slots are filled and read as the clusters of the peers are."""


def relu_and_norm(channels: int) -> nn.Module:
    return nn.Sequential(nn.ReLU(), nn.BatchNorm1d(channels))


class Conv(MessagePassing):
    """X <- A f(X Phi2) + f(X Phi1), by gather and scatter."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__(aggr="add")
        self.own = nn.Linear(channels, width, bias=False)
        self.sent = nn.Linear(channels, width, bias=False)
        self.own_f, self.sent_f = relu_and_norm(width), relu_and_norm(width)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        neighbours = self.propagate(edge_index, x=self.sent_f(self.sent(x)))
        return neighbours + self.own_f(self.own(x))


class MaxPool(nn.Module):
    """Nothing beside the maximum that the network takes anyway."""

    out_channels = 0

    def forward(self, x: Tensor, data: Data) -> Tensor:
        return x.new_zeros(data.num_graphs, 0)


class GMT(nn.Module):
    """Graph Multiset Transformer of PyG."""

    out_channels = WIDTH

    def __init__(self) -> None:
        super().__init__()
        self.pool = GraphMultisetTransformer(WIDTH, k=CLUSTERS, heads=4)

    def forward(self, x: Tensor, data: Data) -> Tensor:
        return self.pool(x, data.batch, ptr=data.ptr, dim_size=data.num_graphs)


class DenseConv(nn.Module):
    """The same layer on padded clusters."""

    def __init__(self) -> None:
        super().__init__()
        self.own = nn.Linear(WIDTH, WIDTH, bias=False)
        self.sent = nn.Linear(WIDTH, WIDTH, bias=False)
        self.own_f, self.sent_f = relu_and_norm(WIDTH), relu_and_norm(WIDTH)

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        own = self.own_f(self.own(x).flatten(0, 1)).view_as(x)
        sent = self.sent_f(self.sent(x).flatten(0, 1)).view_as(x)
        return adjacency @ sent + own


class Diff(nn.Module):
    """DiffPool of PyG: padded and dense."""

    out_channels = 2 * WIDTH

    def __init__(self) -> None:
        super().__init__()
        self.assign = Conv(WIDTH, CLUSTERS)
        self.convs = nn.ModuleList([DenseConv(), DenseConv()])
        self.loss: Tensor | float = 0.0

    def forward(self, x: Tensor, data: Data) -> Tensor:
        share, _ = to_dense_batch(self.assign(x, data.edge_index), data.batch)
        nodes, mask = to_dense_batch(x, data.batch)
        adjacency = to_dense_adj(data.edge_index, data.batch)
        y, adjacency, link, entropy = dense_diff_pool(nodes, adjacency, share, mask)
        self.loss = link + entropy
        vectors = []
        for conv in self.convs:
            y = conv(y, adjacency)
            vectors.append(y.amax(dim=1))
        return torch.cat(vectors, dim=1)


class Net(nn.Module):
    """Three layers, the maximum over them beside a pooling, and a head of three layers.

    A pooling with ``uses_all_layers`` gets all three layers side by side, any other the last.
    """

    def __init__(self, features: int, classes: int, pool: nn.Module) -> None:
        super().__init__()
        self.convs = nn.ModuleList([Conv(features, WIDTH), Conv(WIDTH, WIDTH), Conv(WIDTH, WIDTH)])
        self.pool = pool
        self.head = nn.Sequential(
            nn.Linear(3 * WIDTH + pool.out_channels, WIDTH),
            *(relu_and_norm(WIDTH), nn.Dropout(0.5), nn.Linear(WIDTH, WIDTH)),
            *(relu_and_norm(WIDTH), nn.Dropout(0.5), nn.Linear(WIDTH, classes)),
        )

    def forward(self, data: Data) -> Tensor:
        x, layers = data.x, []
        for conv in self.convs:
            x = conv(x, data.edge_index)
            if self.training:
                x = x * (torch.rand(len(x), 1) >= NODE_DROPOUT)
            layers.append(x)
        everything = torch.cat(layers, dim=1)
        largest = global_max_pool(everything, data.batch, data.num_graphs)
        pooled = self.pool(everything if getattr(self.pool, "uses_all_layers", False) else x, data)
        return self.head(torch.cat([largest, pooled], dim=1))

    def loss(self, data: Data) -> Tensor:
        return F.cross_entropy(self(data), data.y) + getattr(self.pool, "loss", 0.0)


POOLS = {"max": MaxPool, "GMT": GMT, "DiffPool": Diff}
