"""GIN on MUTAG: PyG's well-known network with one line changed, the pooling.

    python examples/gin_on_mutag.py FOLDER    # FOLDER/MUTAG holds the files of the TU collection

Without a folder it trains on generated molecules, of rings with and without a group attached.
"""

import sys
from collections.abc import Iterable
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import MLP, GINConv
from torch_geometric.nn.aggr import Aggregation

import lfds

WIDTH = 32


class GIN(nn.Module):
    """Five graph isomorphism layers, a pooling, and a perceptron."""

    def __init__(self, features: int, classes: int, pool: Aggregation | None = None) -> None:
        super().__init__()
        widths = [features, *5 * [WIDTH]]
        self.convs = nn.ModuleList(GINConv(MLP([before, WIDTH, WIDTH])) for before in widths[:-1])
        self.pool = pool or lfds.LFDSPool(WIDTH, "loop")  # was: SumAggregation()
        pooled = getattr(self.pool, "out_channels", WIDTH)
        self.head = MLP([pooled, WIDTH, classes], norm=None, dropout=0.5)

    def forward(self, batch: Data) -> Tensor:
        """Logits of every graph of the batch."""
        x = batch.x
        for conv in self.convs:
            x = conv(x, batch.edge_index).relu()
        return self.head(self.pool(x, batch.batch, ptr=batch.ptr, dim_size=batch.num_graphs))


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


def molecule(grouped: bool) -> Data:
    """Two rings of six joined by a chain; one of them has a group of two others attached or not."""
    chain = int(torch.randint(1, 5, ()))
    edges = [(i, (i + 1) % 6) for i in range(6)] + [(6 + i, 6 + (i + 1) % 6) for i in range(6)]
    path = [0, *range(12, 12 + chain), 6]
    edges += pairwise(path)
    size = 12 + chain
    labels = torch.zeros(size + 3, dtype=torch.long)
    first = int(torch.randint(1, 6, ()))
    far = size if grouped else int(torch.randint(7, 12, ()))
    edges += [(first, size), (far, size + 1), (far, size + 2)]
    labels[size], labels[size + 1], labels[size + 2] = 1, 2, 2
    one_way = torch.tensor(edges).T
    edge_index = torch.cat([one_way, one_way.flip(0)], dim=1)
    return Data(F.one_hot(labels, 3).float(), edge_index, y=torch.tensor(int(grouped)))


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
        graphs = [molecule(grouped=i % 2 == 1) for i in range(240)]
    else:
        graphs = with_one_hot_labels(lfds.load_dataset("MUTAG", root=folder).to_pyg())
    order = torch.randperm(len(graphs)).tolist()
    tested = len(graphs) // 10
    train = DataLoader([graphs[i] for i in order[tested:]], batch_size=32, shuffle=True)
    test = DataLoader([graphs[i] for i in order[:tested]], batch_size=128)
    model = GIN(graphs[0].num_features, classes=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(8 if folder is None else 50):
        train_epoch(model, train, optimizer)
    print(f"GIN with {model.pool}: accuracy {accuracy(model, test):.0%} on {tested} test graphs")


if __name__ == "__main__":
    main(*sys.argv[1:])
