"""A PyG network with a latent structure in place of global max pooling: one line changes."""

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv

import lfds


class Network(nn.Module):
    """Two graph convolutions, a pooling, a linear head."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first, self.second = GCNConv(features, 32), GCNConv(32, 32)
        self.pool = lfds.LFDSPool(32, "loop")  # was: global_max_pool
        self.head = nn.Linear(self.pool.out_channels, classes)

    def forward(self, batch: Data) -> Tensor:
        """Logits of every graph of the batch."""
        x = self.first(batch.x, batch.edge_index).relu()
        x = self.second(x, batch.edge_index).relu()
        pooled = self.pool(x, batch.batch, dim_size=batch.num_graphs)
        return self.head(pooled)


def ring_or_star(star: bool) -> Data:
    """A ring or a star of 8 to 15 nodes with random features."""
    size = int(torch.randint(8, 16, ()))
    nodes = torch.arange(size)
    other = torch.zeros_like(nodes) if star else nodes.roll(1)
    edges = torch.cat([torch.stack([nodes, other]), torch.stack([other, nodes])], dim=1)
    return Data(x=torch.randn(size, 4), edge_index=edges, y=torch.tensor(int(star)))


def main() -> None:
    """Train for a few epochs and print the accuracy on test graphs."""
    torch.manual_seed(0)
    graphs = [ring_or_star(star=i % 2 == 1) for i in range(400)]
    model = Network(features=4, classes=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(10):
        for batch in DataLoader(graphs[:300], batch_size=32, shuffle=True):
            loss = nn.functional.cross_entropy(model(batch), batch.y) + lfds.nn.penalty(model)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    batch = next(iter(DataLoader(graphs[300:], batch_size=100)))
    accuracy = (model(batch).argmax(dim=1) == batch.y).float().mean()
    print(f"ring or star: accuracy {float(accuracy):.0%} on 100 test graphs\n{model.pool}")


if __name__ == "__main__":
    main()
