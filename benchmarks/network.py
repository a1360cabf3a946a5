"""Time the training of the network of the comparison beside the same network written with PyG.

All contestants train on the same graphs in batches of 32, in turns in every round, and ratios are
taken within a round. Processor time of one thread is measured, so that other programs count as
little as possible.

Run: python -m benchmarks.network FOLDER [NAME ...]; writes the section of benchmarks/README.md.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from benchmarks.marks import write_between
from benchmarks.pyg_network import POOLS, READ_AS_CLUSTERS, Net
from lfds.data import GraphSet
from lfds.data.readers.tu import read_tu
from lfds.nn import Edges, GraphNetwork, NetworkSettings

BATCH, SLOTS = 32, 64
ALL = (
    *("lfds max", "PyG max", "lfds loop", "lfds loop of 64", "PyG DiffPool", "PyG GMT"),
    *("lfds diff", "products of max", "products of loop"),
)
# For each dataset which graphs, largest first, how many rounds, and who takes part.
# With the largest graph of DD in a batch, the dense adjacency of PyG's DiffPool takes 4.2 GB.
RACES = {
    "ENZYMES": (slice(None), 9, ("lfds max", "PyG max", "products of max")),
    "PROTEINS": (slice(None), 5, ALL),
    "DD": (slice(2, None, 6), 3, ALL),
}
RATIOS = [
    ("PyG max", "lfds max"),
    ("PyG DiffPool", "lfds loop"),
    ("PyG GMT", "lfds loop"),
    ("PyG DiffPool", "lfds loop of 64"),
    ("PyG GMT", "lfds loop of 64"),
    ("PyG DiffPool", "lfds diff"),
    ("lfds max", "products of max"),
    ("lfds loop of 64", "products of loop"),
]
Epoch = Callable[[], None]


def settings_of(pool: str) -> NetworkSettings:
    """Return the default network, or for "loop of 64" one with as many slots as peers' clusters."""
    name, _, slots = pool.partition(" of ")
    if not slots:
        return NetworkSettings(pool=name)
    return NetworkSettings.model_validate({"pool": name, "slots": int(slots), **READ_AS_CLUSTERS})


def our_epoch(graphs: GraphSet, pool: str) -> Epoch:
    model = GraphNetwork(graphs.x.shape[1], len(graphs.classes), settings_of(pool))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.005, fused=True)

    def run() -> None:
        for chosen in torch.randperm(len(graphs)).split(BATCH):
            batch = graphs.batch(chosen)
            edges = Edges.from_rows(batch.edge_ptr, batch.edge_dst)
            optimizer.zero_grad()
            logits = model(batch.x, batch.ptr, edges)
            (F.cross_entropy(logits, batch.y) + model.penalty()).backward()
            optimizer.step()

    return run


def their_epoch(graphs: GraphSet, pool: str) -> Epoch:
    model = Net(graphs.x.shape[1], len(graphs.classes), POOLS[pool]())
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.005, fused=True)
    data = [Data(x=g.x, edge_index=g.edge_index, y=g.y) for g in graphs.to_pyg()]
    loader = DataLoader(data, BATCH, shuffle=True)

    def run() -> None:
        for batch in loader:
            optimizer.zero_grad()
            model.loss(batch).backward()
            optimizer.step()

    return run


def products_alone(graphs: GraphSet, pool: str) -> Epoch:
    """Return the floor: the matrix products of a network, forward and backward, and no more.

    Nodes are distributed over slots as if all nodes of a batch were one graph.
    """
    latent = pool == "loop"
    batches = []
    for chosen in torch.randperm(len(graphs)).split(BATCH):
        nodes, slots = int(graphs.sizes[chosen].sum()), SLOTS * len(chosen)
        widths = [(nodes, graphs.x.shape[1], 128), *2 * [(nodes, 64, 128)]]
        widths += latent * [*2 * [(nodes, 64, SLOTS)], *2 * [(slots, 64, 128)]]
        widths += [(len(chosen), i, 64) for i in (192 + latent * 128, 64, 64)]
        batches.append([(torch.randn(rows, i), torch.randn(o, i)) for rows, i, o in widths])

    def run() -> None:
        for x, weight in (product for batch in batches for product in batch):
            out = x @ weight.T
            out.T @ x  # to the weight
            out @ weight  # to the nodes

    return run


def contestant(name: str, graphs: GraphSet) -> Epoch:
    side, _, pool = name.partition(" ")
    if side == "products":
        return products_alone(graphs, pool.removeprefix("of "))
    return our_epoch(graphs, pool) if side == "lfds" else their_epoch(graphs, pool)


def race(graphs: GraphSet, names: tuple[str, ...], rounds: int) -> dict[str, list[float]]:
    epochs = {name: contestant(name, graphs) for name in names}
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds + 1):
        for name, run in epochs.items():
            start = time.process_time()
            run()
            if turn:  # the first time warms up
                times[name].append(time.process_time() - start)
    return times


def shares_of_time(graphs: GraphSet, pool: str) -> dict[str, float]:
    """Return the share of each part of our network in the time of an epoch."""
    model = GraphNetwork(graphs.x.shape[1], len(graphs.classes), settings_of(pool))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.005, fused=True)
    spent = dict.fromkeys(
        ["batches", "edges", "base", "pooling and head", "backward", "AdamW"], 0.0
    )
    mark = time.process_time()

    def lap(name: str) -> None:
        nonlocal mark
        now = time.process_time()
        spent[name] += now - mark
        mark = now

    model.base.register_forward_hook(lambda *_: lap("base"))
    for chosen in torch.randperm(len(graphs)).split(BATCH):
        batch = graphs.batch(chosen)
        lap("batches")
        edges = Edges.from_rows(batch.edge_ptr, batch.edge_dst)
        lap("edges")
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch.x, batch.ptr, edges), batch.y) + model.penalty()
        lap("pooling and head")
        loss.backward()
        lap("backward")
        optimizer.step()
        lap("AdamW")
    return {name: part / sum(spent.values()) for name, part in spent.items()}


def encoded(path: Path, chosen: slice = slice(None)) -> GraphSet:
    """Read some graphs of a dataset, largest first, with labels and attributes as features."""
    graphs = read_tu(path)
    labels = nn.functional.one_hot(graphs.labels[:, 0] - graphs.labels.min()).float()
    graphs = graphs.with_features(torch.cat([graphs.attributes, labels], dim=1))
    return graphs[graphs.sizes.argsort(descending=True, stable=True)[chosen]]


def lines_for(name: str, graphs: GraphSet, rounds: int, names: tuple[str, ...]) -> Iterator[str]:
    times = race(graphs, names, rounds)
    size = f"{len(graphs)} graphs, {graphs.num_nodes} nodes, the largest {int(graphs.sizes.max())}"
    yield f"\n**{name}**: {size}, {rounds} rounds\n"
    yield "| trained | ms per epoch | graphs per second |"
    yield "|---|--:|--:|"
    for contestant_name, taken in times.items():
        middle = median(taken)
        yield f"| {contestant_name} | {1000 * middle:.0f} | {len(graphs) / middle:.0f} |"
    yield "\n| ratio | median | smallest | largest |"
    yield "|---|--:|--:|--:|"
    for slow, fast in RATIOS:
        if slow in times and fast in times:
            ratio = [a / b for a, b in zip(times[slow], times[fast], strict=True)]
            spread = f"{median(ratio):.1f}x | {min(ratio):.1f}x | {max(ratio):.1f}x"
            yield f"| {slow} / {fast} | {spread} |"
    yield ""
    for pool in ("max", "loop", "loop of 64"):
        parts = shares_of_time(graphs, pool)
        shown = ", ".join(f"{part} {100 * share:.0f} %" for part, share in parts.items())
        yield f"- Time of lfds {pool}: {shown}."


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    folder = Path(sys.argv[1])
    lines = [
        f"torch {torch.__version__}, one thread, batches of {BATCH}, processor time; load of the "
        f"machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors.",
    ]
    for name in sys.argv[2:] or list(RACES):
        chosen, rounds, names = RACES[name]
        for line in lines_for(name, encoded(folder / name, chosen), rounds, names):
            print(line, flush=True)
            lines.append(line)
    write_between(Path(__file__).with_name("README.md"), "network", "\n".join(lines))


if __name__ == "__main__":
    main()
