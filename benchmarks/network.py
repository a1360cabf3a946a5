"""How fast the network of the comparison trains, beside PyG's ways, turn by turn.

All contestants of a row train on the same graphs in batches of 32, one after the other in every
round, and ratios are taken within a round. Processor time of one thread is counted, so that other
programs count as little as possible.

Run as: python -m benchmarks.network FOLDER [NAME ...]; writes NETWORK.md here.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from benchmarks.pyg_network import POOLS, Net
from lfds.data import GraphSet
from lfds.data.tu import read_tu
from lfds.nn import Edges, GraphClassifier, NetworkSettings

BATCH = 32
# What is raced on each set, and on how many of its graphs: dense peers need minutes for all of DD.
RACES = {
    "ENZYMES": (600, 7, ("lfds max", "PyG max", "products alone")),
    "PROTEINS": (1113, 3, ("lfds max", "PyG max", "lfds loop", "PyG DiffPool", "PyG GMT",
                           "lfds diff", "products alone")),
    "DD": (192, 3, ("lfds max", "PyG max", "lfds loop", "PyG DiffPool", "PyG GMT",
                   "lfds diff", "products alone")),
}  # fmt: skip
RATIOS = [
    ("PyG max", "lfds max"),
    ("PyG DiffPool", "lfds loop"),
    ("PyG GMT", "lfds loop"),
    ("PyG DiffPool", "lfds diff"),
    ("lfds max", "products alone"),
]
Epoch = Callable[[], None]


def our_epoch(graphs: GraphSet, pool: str) -> Epoch:
    model = GraphClassifier(graphs.x.shape[1], len(graphs.classes), NetworkSettings(pool=pool))
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


def products_alone(graphs: GraphSet) -> Epoch:
    """The floor: the matrix products of base and head, forward and backward, and nothing else."""
    widths = [(graphs.x.shape[1], 128), (64, 128), (64, 128)]
    weights = [torch.randn(out, inside) for inside, out in widths]
    sizes = graphs.ptr.diff()
    counts = [int(sizes[chosen].sum()) for chosen in torch.randperm(len(graphs)).split(BATCH)]
    inputs = [[torch.randn(nodes, inside) for inside, _ in widths] for nodes in counts]
    head = [(torch.randn(BATCH, i), torch.randn(64, i)) for i in (192, 64, 64)]

    def products(x: Tensor, weight: Tensor) -> None:
        out = x @ weight.T
        out.T @ x  # to the weight
        out @ weight  # to the nodes

    def run() -> None:
        for batch in inputs:
            for x, weight in [*zip(batch, weights, strict=True), *head]:
                products(x, weight)

    return run


def contestant(name: str, graphs: GraphSet) -> Epoch:
    if name == "products alone":
        return products_alone(graphs)
    side, pool = name.split()
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
    """Where an epoch of ours goes, as parts of one."""
    model = GraphClassifier(graphs.x.shape[1], len(graphs.classes), NetworkSettings(pool=pool))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.005, fused=True)
    spent = dict.fromkeys(["batches", "edges", "base", "pooling and head", "backward", "Adam"], 0.0)
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
        lap("Adam")
    return {name: part / sum(spent.values()) for name, part in spent.items()}


def encoded(path: Path, limit: int) -> GraphSet:
    graphs = read_tu(path)
    kinds = nn.functional.one_hot(graphs.labels[:, 0] - graphs.labels.min()).float()
    graphs = graphs.with_features(torch.cat([graphs.attributes, kinds], dim=1))
    order = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0))
    return graphs[order[:limit]]


def lines_for(name: str, graphs: GraphSet, rounds: int, names: tuple[str, ...]) -> Iterator[str]:
    times = race(graphs, names, rounds)
    yield f"\n## {name}: {len(graphs)} graphs, {int(graphs.ptr[-1])} nodes, {rounds} rounds\n"
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
    for pool in ("max", "loop"):
        parts = shares_of_time(graphs, pool)
        shown = ", ".join(f"{part} {100 * share:.0f} %" for part, share in parts.items())
        yield f"Where the time of lfds {pool} goes: {shown}.\n"


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    folder = Path(sys.argv[1])
    load = os.getloadavg()[0]
    lines = [
        "# Training speed of the network\n",
        "Written by `python -m benchmarks.network FOLDER`.",
        f"torch {torch.__version__}, one thread, batches of {BATCH}, processor time.",
        f"The machine was shared: load {load:.1f} on {os.cpu_count()} processors at the start.",
        "A ratio is the median of ratios within rounds.",
        "`products alone` is the floor: the matrix products of base and head of the `max` network.",
        "The lfds side trains with `Adam(fused=True)`, the PyG side with the default `Adam`, as "
        "scripts do; Adam is 1 to 5 % of our time.",
        "DD is a sample of its graphs, most of the largest ones not among them.",
    ]
    for name in sys.argv[2:] or list(RACES):
        limit, rounds, names = RACES[name]
        for line in lines_for(name, encoded(folder / name, limit), rounds, names):
            print(line, flush=True)
            lines.append(line)
    (Path(__file__).parent / "NETWORK.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
