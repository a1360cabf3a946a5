"""Poolings in the networks of PyG's well-known examples: accuracy, and processor time per epoch.

    python -m benchmarks.pyg_examples FOLDER [--data mutag proteins nci1-sized] [--seeds 10]

FOLDER holds the TU datasets MUTAG and PROTEINS. Every seed is a split of its own (eight tenths for
training, one for choosing the epoch, one for the test). Runs are rows of
``results/pyg_examples.csv``, and those that are there are not run again; the tables are written to
``docs/pyg.md``, which takes about an hour in all.
"""

import argparse
import csv
import importlib.util
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn.aggr import (
    Aggregation,
    GraphMultisetTransformer,
    MaxAggregation,
    SetTransformerAggregation,
    SumAggregation,
)

import lfds
from benchmarks.marks import write_between
from lfds.data.splits import stratified_folds

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "results" / "pyg_examples.csv", HERE.parent / "docs" / "pyg.md"
BATCH, WIDTH, HEADS = 64, 32, 4


def example(name: str) -> ModuleType:
    """An example script as a module: its very network is measured."""
    path = HERE.parent / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lfds_pool(channels: int, **options: int) -> Aggregation:
    hidden = None if channels == WIDTH else WIDTH
    return lfds.LFDSPool(channels, "loop", hidden_channels=hidden, **options)


POOLS: dict[str, Callable[[int], Aggregation]] = {
    "global_add_pool": lambda channels: SumAggregation(),
    "global_max_pool": lambda channels: MaxAggregation(),
    "GMT": lambda channels: GraphMultisetTransformer(channels, k=10, heads=HEADS),
    "SetTransformer": lambda channels: SetTransformerAggregation(channels, heads=HEADS),
    "LFDSPool": lfds_pool,
    "LFDSPool, 64 slots": lambda channels: lfds_pool(channels, num_slots=64),
}


# Poolings whose accuracy is measured, the fastest first.
MEASURED = ("global_add_pool", "global_max_pool", "LFDSPool", "GMT", "SetTransformer")


class Case(NamedTuple):
    """A dataset, the network it is trained with, and for how long."""

    graphs: Callable[[Path], list[Data]]
    network: str
    script: str
    pooled: int
    epochs: int


def tu(name: str) -> Callable[[Path], list[Data]]:
    def read(folder: Path) -> list[Data]:
        graphs = lfds.load_dataset(name, root=folder).to_pyg()
        return example("gin_on_mutag").with_one_hot_labels(graphs)

    return read


def nci1_sized(_: Path) -> list[Data]:
    """As many graphs, nodes, edges and labels as NCI1 has: which bond there is more of decides."""
    generator = torch.Generator().manual_seed(0)
    return [_random_molecule(generator) for _ in range(4110)]


def _random_molecule(generator: torch.Generator) -> Data:
    size = int((30 + 10 * torch.randn((), generator=generator)).clamp(5, 110))
    later = torch.arange(1, size)
    back = torch.randint(1, 4, (size - 1,), generator=generator)
    tree = torch.stack([later, (later - back).clamp(min=0)])
    rings = torch.randint(size, (2, max(1, size // 12)), generator=generator)
    one_way = torch.cat([tree, rings[:, rings[0] != rings[1]]], dim=1)
    chances = 1 / torch.arange(1, 38)
    labels = torch.multinomial(chances, size, replacement=True, generator=generator)
    low, high = labels[one_way].aminmax(dim=0)
    excess = ((low == 0) & (high == 1)).sum() - ((low == 0) & (high == 2)).sum()
    edge_index = torch.cat([one_way, one_way.flip(0)], dim=1)
    return Data(F.one_hot(labels, 37).float(), edge_index, y=(excess > 1).long())


CASES = {
    "mutag": Case(tu("MUTAG"), "GIN", "gin_on_mutag", WIDTH, 20),
    "proteins": Case(tu("PROTEINS"), "Network", "gmt_on_proteins", 3 * WIDTH, 10),
    "nci1-sized": Case(nci1_sized, "GIN", "gin_on_mutag", WIDTH, 10),
}


def build(case: Case, graphs: list[Data], pool: str, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    network = getattr(example(case.script), case.network)
    return network(graphs[0].num_features, classes=2, pool=POOLS[pool](case.pooled))


def step(model: nn.Module, batch: Data, optimizer: torch.optim.Optimizer) -> None:
    loss = F.cross_entropy(model(batch), batch.y) + lfds.nn.penalty(model)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def run(case: Case, graphs: list[Data], pool: str, seed: int) -> float:
    """The test accuracy, in percent, at the epoch that validation graphs chose."""
    labels = [int(graph.y) for graph in graphs]
    split = stratified_folds(labels, folds=10, seed=seed, validation=1 / 9)[0]
    parts = {
        name: [graphs[i] for i in getattr(split, name)] for name in ("train", "validation", "test")
    }
    model = build(case, graphs, pool, seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    accuracy = example(case.script).accuracy
    held_out = {name: [Batch.from_data_list(parts[name])] for name in ("validation", "test")}
    chosen = (-1.0, 0.0)
    for _ in range(case.epochs):
        model.train()
        for batch in DataLoader(parts["train"], batch_size=BATCH, shuffle=True):
            step(model, batch, optimizer)
        found = (accuracy(model, held_out["validation"]), accuracy(model, held_out["test"]))
        chosen = max(chosen, found, key=lambda both: both[0])
    return 100 * chosen[1]


def epoch_seconds(case: Case, graphs: list[Data], rounds: int = 3) -> dict[str, list[float]]:
    """Processor seconds of the steps of an epoch, pool by pool in turns, from a few batches."""
    loader = DataLoader(graphs, batch_size=BATCH, shuffle=True)
    batches = [batch for batch, _ in zip(loader, range(3), strict=False)]
    part = sum(batch.num_graphs for batch in batches) / len(graphs)
    models = {pool: build(case, graphs, pool, 0) for pool in POOLS}
    found: dict[str, list[float]] = {pool: [] for pool in POOLS}
    for turn in range(rounds + 1):
        for pool, model in models.items():
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
            begin = time.process_time()
            for batch in batches:
                step(model, batch, optimizer)
            if turn:  # the first time everything is being set up
                found[pool].append((time.process_time() - begin) / part)
    return found


FIELDS = ("data", "pool", "seed", "measured", "value")
Rows = dict[tuple[str, str, str, str], float]


def read_rows() -> Rows:
    if not RESULTS.exists():
        return {}
    with RESULTS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        (row["data"], row["pool"], row["seed"], row["measured"]): float(row["value"])
        for row in rows
    }


def append(*row: object) -> None:
    new = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(FIELDS)
        writer.writerow(row)


def measure_times(name: str, folder: Path) -> None:
    if (name, "LFDSPool", "0", "seconds") in read_rows():
        return
    case = CASES[name]
    for pool, seconds in epoch_seconds(case, case.graphs(folder)).items():
        for turn, value in enumerate(seconds):
            append(name, pool, turn, "seconds", round(value, 4))


def measure_accuracies(name: str, folder: Path, seeds: int) -> None:
    case, rows = CASES[name], read_rows()
    wanted = [(seed, pool) for pool in MEASURED for seed in range(seeds)]
    missing = [
        (seed, pool) for seed, pool in wanted if (name, pool, str(seed), "accuracy") not in rows
    ]
    graphs = case.graphs(folder) if missing else []
    for seed, pool in missing:
        append(name, pool, seed, "accuracy", round(run(case, graphs, pool, seed), 2))


def tables(seeds: int) -> str:
    rows, lines = read_rows(), []
    for name, case in CASES.items():
        times = {pool: _values(rows, name, pool, "seconds") for pool in POOLS}
        if not times["LFDSPool"]:
            continue
        lines += [
            f"**{name}**, `{case.network}` of `examples/{case.script}.py`, {case.epochs} epochs:",
            "",
            "| pooling | test accuracy, % | s per epoch | times `global_add_pool` |",
            "|---|--:|--:|--:|",
        ]
        for pool, seconds in times.items():
            found = _values(rows, name, pool, "accuracy")
            mean = "-"
            if len(found) >= seeds:  # an incomplete run has no mean
                mean = f"{statistics.mean(found):.1f} ± {statistics.stdev(found):.1f}"
            pairs = zip(seconds, times["global_add_pool"], strict=True)
            ratio = statistics.median(own / flat for own, flat in pairs)
            lines.append(f"| `{pool}` | {mean} | {statistics.median(seconds):.2f} | {ratio:.1f}x |")
        lines.append("")
    return "\n".join(lines)


def _values(rows: Rows, name: str, pool: str, measured: str) -> list[float]:
    return [
        value for key, value in rows.items() if (key[0], key[1], key[3]) == (name, pool, measured)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for name in arguments.data:
        measure_times(name, arguments.folder)
    for name in arguments.data:
        measure_accuracies(name, arguments.folder, arguments.seeds)
    write_between(PAGE, "pyg examples", tables(arguments.seeds))


if __name__ == "__main__":
    main()
