"""Three GCN layers on PROTEINS, all of them pooled: GMT's network with one line changed.

    python examples/gmt_on_proteins.py FOLDER  # FOLDER/PROTEINS holds TU files

Without a folder it trains on generated graphs: of two sizes of clusters, which one there are more.
"""

import sys
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv
from torch_geometric.nn.aggr import Aggregation

import lfds

WIDTH = 32


class Network(nn.Module):
    """Three convolutions, a pooling of all three side by side, and a head of two layers."""

    def __init__(self, features: int, classes: int, pool: Aggregation | None = None) -> None:
        super().__init__()
        self.convs = nn.ModuleList(GCNConv(before, WIDTH) for before in (features, WIDTH, WIDTH))
        # was: GraphMultisetTransformer(3 * WIDTH, k=10, heads=4)
        self.pool = pool or lfds.LFDSPool(3 * WIDTH, "loop", hidden_channels=WIDTH)
        pooled = getattr(self.pool, "out_channels", 3 * WIDTH)
        self.hidden, self.head = nn.Linear(pooled, WIDTH), nn.Linear(WIDTH, classes)

    def forward(self, batch: Data) -> Tensor:
        """Logits of every graph of the batch."""
        x, layers = batch.x, []
        for conv in self.convs:
            x = conv(x, batch.edge_index).relu()
            layers.append(x)
        nodes = torch.cat(layers, dim=1)
        pooled = self.pool(nodes, batch.batch, ptr=batch.ptr, dim_size=batch.num_graphs)
        hidden = F.dropout(self.hidden(pooled).relu(), 0.5, self.training)
        return self.head(hidden)


def train_epoch(model: nn.Module, loader: Iterable[Data], optimizer: torch.optim.Optimizer) -> None:
    """Take one step for each batch."""
    model.train()
    for batch in loader:
        loss = F.cross_entropy(model(batch), batch.y) + lfds.nn.penalty(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def accuracy(model: nn.Module, loader: Iterable[Data]) -> float:
    """The part of the graphs that are classified correctly."""
    model.eval()
    right = torch.cat([model(batch).argmax(dim=1) == batch.y for batch in loader])
    return float(right.float().mean())


def clusters(many_small: bool) -> Data:
    """A chain of triangles and cliques of six, more of the ones or of the others."""
    more, fewer = int(torch.randint(4, 7, ())), int(torch.randint(1, 4, ()))
    counts = (more, fewer) if many_small else (fewer, more)
    sizes = torch.tensor(counts[0] * [3] + counts[1] * [6])[torch.randperm(sum(counts))]
    starts, edges = sizes.cumsum(0) - sizes, []
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        edges += [(start + i, start + j) for i in range(size) for j in range(size) if i != j]
        edges += [(start, start - 1), (start - 1, start)] if start else []
    x = torch.ones(int(sizes.sum()), 3) + 0.1 * torch.randn(int(sizes.sum()), 3)
    x[:, 0] = torch.repeat_interleave(sizes, sizes) / 6
    return Data(x, torch.tensor(edges).T, y=torch.tensor(int(many_small)))


def with_one_hot_labels(graphs: list[Data]) -> list[Data]:
    """The graphs with the labels of their nodes as features."""
    count = 1 + max(int(graph.labels.max()) for graph in graphs)
    return [
        Data(F.one_hot(graph.labels[:, 0], count).float(), graph.edge_index, y=graph.y)
        for graph in graphs
    ]


def main(folder: str | None = None) -> None:
    """Train, and print the accuracy on a tenth of the graphs."""
    torch.manual_seed(0)
    if folder is None:
        graphs = [clusters(many_small=i % 2 == 1) for i in range(240)]
    else:
        graphs = with_one_hot_labels(lfds.load_dataset("PROTEINS", root=folder).to_pyg())
    order = torch.randperm(len(graphs)).tolist()
    tested = len(graphs) // 10
    train = DataLoader([graphs[i] for i in order[tested:]], batch_size=32, shuffle=True)
    test = DataLoader([graphs[i] for i in order[:tested]], batch_size=128)
    model = Network(graphs[0].num_features, classes=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    epochs = 12 if folder is None else 30
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for _ in range(epochs):
        train_epoch(model, train, optimizer)
        schedule.step()
    print(f"{model.pool}: accuracy {accuracy(model, test):.0%} on {tested} test graphs")


if __name__ == "__main__":
    main(*sys.argv[1:])
