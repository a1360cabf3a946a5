"""Time the assembly of one epoch of shuffled batches, ours and PyG's in turns.

Processor time of one thread is measured.

Run: python benchmarks/data_batches.py FOLDER [NAME ...]
"""

import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import torch
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.loader import DataLoader

from lfds.data import GraphSet
from lfds.data.readers.tu import read_tu

ROUNDS = 9
BATCH = 32


def our_epoch(graphs: GraphSet) -> float:
    start = time.process_time()
    for chosen in torch.split(torch.randperm(len(graphs)), BATCH):
        graphs.batch(chosen)
    return time.process_time() - start


def their_epoch(loader: DataLoader) -> float:
    start = time.process_time()
    for _ in loader:
        pass
    return time.process_time() - start


def as_pyg_data(graphs: GraphSet) -> list[Data]:
    """Return the graphs with the attributes that PyG's own reader gives them."""
    return [Data(x=g.x, edge_index=g.edge_index, y=g.y) for g in graphs.to_pyg()]


class Collated(InMemoryDataset):
    """The same graphs as `TUDataset` stores them: collated, and sliced on access."""

    def __init__(self, graphs: list[Data]) -> None:
        super().__init__()
        self.data, self.slices = self.collate(graphs)


def compare(graphs: GraphSet, stored: Path) -> dict[str, tuple[float, float]]:
    """Return median milliseconds per epoch, and the median ratio to ours, by name."""
    graphs.save(stored)
    mapped = GraphSet.load(stored)
    theirs = as_pyg_data(graphs)
    loaders = {
        "PyG `DataLoader`, list of `Data`": DataLoader(theirs, BATCH, shuffle=True),
        "PyG `DataLoader`, `TUDataset`-like": DataLoader(Collated(theirs), BATCH, shuffle=True),
    }
    times: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        times.setdefault("lfds", []).append(our_epoch(graphs))
        times.setdefault("lfds, memory-mapped", []).append(our_epoch(mapped))
        for name, loader in loaders.items():
            times.setdefault(name, []).append(their_epoch(loader))
    return {
        name: (
            1000 * median(taken),
            median(their / our for our, their in zip(times["lfds"], taken, strict=True)),
        )
        for name, taken in times.items()
    }


def main() -> None:
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    print(f"| dataset | way, batches of {BATCH} | ms per epoch | ratio |")
    print("|---|---|--:|--:|")
    for name in sys.argv[2:] or ["ENZYMES", "PROTEINS", "DD"]:
        graphs = read_tu(folder / name)
        labels = torch.nn.functional.one_hot(graphs.labels[:, 0]).float()
        graphs = graphs.with_features(torch.cat([graphs.attributes, labels], dim=1))
        with TemporaryDirectory() as scratch:
            for way, (taken, ratio) in compare(graphs, Path(scratch) / name).items():
                print(f"| {name} | {way} | {taken:.2f} | {ratio:.1f}x |", flush=True)


if __name__ == "__main__":
    main()
