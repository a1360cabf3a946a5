"""PyTorch Lightning trains a GIN whose pooling is a latent structure; needs `lfds[lightning]`.

    python examples/lightning_training.py

The only line that differs from PyG's example is the one that makes the pooling.
"""

import logging
import warnings

import lightning
import torch
from gin_on_mutag import molecule
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch_geometric.data import Data
from torch_geometric.data.lightning import LightningDataset
from torch_geometric.nn import GIN, MLP

import lfds


class Classifier(lightning.LightningModule):
    """A GIN, a pooling and a perceptron, with what Lightning asks for."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.gnn = GIN(features, 32, num_layers=3, norm="batch_norm")
        self.pool = lfds.LFDSPool(32, "loop")  # was: SumAggregation()
        self.head = MLP([self.pool.out_channels, 32, classes], norm=None, dropout=0.5)

    def forward(self, batch: Data) -> Tensor:
        """Logits of every graph of the batch."""
        x = self.gnn(batch.x, batch.edge_index)
        return self.head(self.pool(x, batch.batch, dim_size=batch.num_graphs))

    def training_step(self, batch: Data, _: int) -> Tensor:
        """The loss of a batch."""
        return F.cross_entropy(self(batch), batch.y) + lfds.nn.penalty(self)

    def validation_step(self, batch: Data, _: int) -> None:
        """Log the accuracy."""
        right = self(batch).argmax(dim=1) == batch.y
        self.log("accuracy", right.float().mean(), batch_size=batch.num_graphs)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam on all parameters."""
        return torch.optim.Adam(self.parameters(), lr=0.01)


def train(model: nn.Module, graphs: list[Data], **options: object) -> float:
    """Train on all but a tenth of the graphs, and return the accuracy on it."""
    tested = len(graphs) // 10
    data = LightningDataset(graphs[tested:], graphs[:tested], batch_size=32, pin_memory=False)
    trainer = lightning.Trainer(
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        **options,
    )
    trainer.fit(model, data)
    return float(trainer.callback_metrics["accuracy"])


def main() -> None:
    """Train on generated molecules, and print the accuracy."""
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", ".*does not have many workers")
    torch.manual_seed(0)
    graphs = [molecule(grouped=i % 2 == 1) for i in range(240)]
    model = Classifier(features=3, classes=2)
    found = train(model, graphs, max_epochs=8, log_every_n_steps=1)
    print(f"Lightning: accuracy {found:.0%} on 24 validation graphs\n{model.pool}")


if __name__ == "__main__":
    main()
