r"""Poolings on the input features themselves, with no network before them: which halves co-occur.

Run: python -m benchmarks.without_backbone
Trains pooling, batch normalization and head on ``parts-pairs-set`` and writes the second table of
docs/must-win.md, in about a minute.

In ``parts-pairs-set`` the two classes have the same multiset of values in every channel, so that no
statistic of single channels, of any order, can distinguish them; the joint distribution does.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean, pstdev

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

import lfds
from benchmarks.marks import markdown_table, write_between
from lfds.config.registry import BASELINES, STRUCTURES
from lfds.data.graphset import GraphSet
from lfds.data.splits import stratified_folds
from lfds.nn.models.head import Head
from lfds.nn.ops.edges import Edges

PAGE = Path(__file__).parents[1] / "docs" / "must-win.md"
FLAT = ("max", "mean", "sum", "max+mean", "stats")
DATASET = "parts-pairs-set"


class Classifier(nn.Module):
    """A pooling of the input features, batch normalization, and the head of all our networks."""

    def __init__(self, pool: str, channels: int) -> None:
        super().__init__()
        self.flat = pool in FLAT
        self.pool: nn.Module = (
            BASELINES[pool].load()(channels) if self.flat else lfds.LFDSPool(channels, pool)
        )
        width = self.pool.out_channels
        self.norm = nn.BatchNorm1d(width, affine=False)
        self.head = Head(width, 64, 2, dropout=0.5, norm=True)

    def forward(self, x: Tensor, ptr: Tensor, edges: Edges) -> Tensor:
        pooled = self.pool(x, ptr, edges) if self.flat else self.pool(x, ptr=ptr)
        return self.head(self.norm(pooled))


def accuracy(pool: str, graphs: GraphSet, train: list[int], test: list[int], epochs: int) -> float:
    """Train on some graphs for a fixed number of epochs, and test once."""
    torch.manual_seed(0)
    model = Classifier(pool, graphs.attributes.shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    order = torch.Generator().manual_seed(0)
    for _ in range(epochs):
        for rows in torch.tensor(train)[torch.randperm(len(train), generator=order)].split(34):
            outputs, y = apply(model.train(), graphs, rows)
            optimizer.zero_grad()
            F.cross_entropy(outputs, y).backward()
            optimizer.step()
    with torch.no_grad():
        outputs, y = apply(model.eval(), graphs, torch.tensor(test))
    return float((outputs.argmax(dim=1) == y).float().mean())


def apply(model: nn.Module, graphs: GraphSet, rows: Tensor) -> tuple[Tensor, Tensor]:
    some = graphs[rows.tolist()]
    edges = Edges.from_rows(some.edge_ptr, some.edge_dst)
    return model(some.attributes.float(), some.ptr, edges), some.y


def accuracies(epochs: int, folds: int = 3) -> Mapping[str, list[float]]:
    graphs = lfds.load_dataset(DATASET)
    splits = stratified_folds(graphs.y.numpy(), folds=folds, validation=0)
    return {
        pool: [accuracy(pool, graphs, [*s.train], [*s.test], epochs) for s in splits]
        for pool in (*FLAT, *STRUCTURES)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=60)
    given = parser.parse_args()
    lines = [
        [f"`{pool}`", f"{100 * fmean(found):.0f} ± {100 * pstdev(found):.0f}"]
        for pool, found in accuracies(given.epochs).items()
    ]
    write_between(PAGE, "without-backbone", markdown_table(["pooling", "accuracy"], lines))


if __name__ == "__main__":
    main()
