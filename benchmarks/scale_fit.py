"""Graphs per second of a data-parallel ``fit``, and memory of each rank, by number of ranks.

``python -m benchmarks.scale_fit [--graphs N] [--epochs N] [--ranks 1 2] [--batch 32 128 512]``
writes the table of ``SCALE.md`` here. Times are of the processor (of rank 0) and by the clock; on a
machine that does something else at the same time only the first mean something.
"""

import argparse
import os
import time
from dataclasses import dataclass, field
from multiprocessing import active_children
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from benchmarks.marks import write_between
from lfds.config.training import TrainingSettings
from lfds.data.graphset import GraphSet
from lfds.nn import GraphNetwork, NetworkSettings
from lfds.nn.randomness import initialize_from
from lfds.train.distributed import shared_fit, train_together
from lfds.train.loop import Progress
from lfds.train.objective import Classify

PAGE = Path(__file__).parent / "SCALE.md"
FEATURES, CLASSES = 16, 4
MEAN_NODES = 39  # as PROTEINS


def random_graphs(count: int) -> GraphSet:
    """Return random graphs with sizes as skewed as those of proteins."""
    rng = np.random.default_rng(0)
    sizes = np.maximum(2, rng.lognormal(np.log(MEAN_NODES) - 0.32, 0.8, count)).astype(np.int64)
    starts = np.repeat(np.cumsum(sizes) - sizes, 2 * sizes)
    spans = np.repeat(sizes, 2 * sizes)
    ends = (rng.random((2, len(spans))) * spans).astype(np.int64) + starts
    ends = ends[:, ends[0] != ends[1]]
    edges = np.unique(np.concatenate([ends, ends[::-1]], axis=1), axis=1)
    graphs = GraphSet.from_arrays(sizes, edges, rng.integers(CLASSES, size=count))
    return graphs.with_features(torch.from_numpy(rng.normal(size=(sizes.sum(), FEATURES))).float())


@dataclass
class Watch:
    """Times after epochs, and the memory of all ranks."""

    clock: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    peak: int = 0
    private: int = 0

    def __call__(self, progress: Progress) -> None:
        self.clock.append(time.perf_counter())
        self.seconds.append(progress.seconds)
        for pid in [one.pid for one in active_children()] or [os.getpid()]:
            self.peak = max(self.peak, entries(f"/proc/{pid}/status", "VmHWM"))
            own = entries(f"/proc/{pid}/smaps_rollup", "Private_Clean", "Private_Dirty")
            self.private = max(self.private, own)

    def rate(self, times: list[float], graphs: int) -> float:
        """Return graphs per second, without the first epoch."""
        return graphs * (len(times) - 1) / (times[-1] - times[0])


def entries(file: str, *names: str) -> int:
    """Return the sum of some entries of a file in ``/proc``, in bytes."""
    lines = (line.split() for line in Path(file).read_text().splitlines())
    return sum(1024 * int(words[1]) for words in lines if words[0].rstrip(":") in names)


def measure(graphs: GraphSet, ranks: int, sync: bool, batch_size: int, epochs: int) -> Watch:
    with initialize_from(0):
        network = GraphNetwork(FEATURES, CLASSES, NetworkSettings(pool="loop"))
    settings = TrainingSettings(epochs=epochs + 1, batch_size=batch_size, averaging=0.0)
    how = {"objective": Classify(), "patience": None, "ranks": ranks, "sync_batch_norm": sync}
    watch = Watch()
    with TemporaryDirectory() as folder:
        fit = shared_fit(Path(folder), network, graphs, None, settings, 0, ("bench",), **how)
        train_together(fit, watch)
    return watch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=4096)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--batch", type=int, nargs="+", default=[32, 128, 512])
    given = parser.parse_args()
    torch.set_num_threads(1)
    graphs = random_graphs(given.graphs)
    size = sum(t.numel() * t.element_size() for t in (graphs.x, graphs.edge_ptr, graphs.edge_dst))
    lines = [
        f"{given.graphs:,} graphs with {graphs.num_nodes:,} nodes and {graphs.num_edges:,} edges "
        f"({size / 1e6:.0f} MB), loop, {given.epochs} epochs, one thread for each rank.",
        "",
        "| batch size | ranks | batch norm over | graphs/s, processor | speedup | graphs/s, clock "
        "| speedup | peak memory of a rank | private |",
        "|--:|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for batch in given.batch:
        first = (0.0, 0.0)
        for ranks, sync in [(r, s) for r in given.ranks for s in ([False, True] if r > 1 else [0])]:
            found = measure(graphs, ranks, bool(sync), batch, given.epochs)
            rate = found.rate(found.seconds, given.graphs)
            clock = found.rate(found.clock, given.graphs)
            first = (first[0] or rate, first[1] or clock)
            rows = "" if ranks == 1 else "all ranks" if sync else "own rows"
            lines.append(
                f"| {batch} | {ranks} | {rows} | {rate:,.0f} | {rate / first[0]:.2f} | "
                f"{clock:,.0f} | {clock / first[1]:.2f} | {found.peak / 1e6:,.0f} MB | "
                f"{found.private / 1e6:,.0f} MB |"
            )
            print(lines[-1], flush=True)
    write_between(PAGE, "fit", "\n".join(lines))


if __name__ == "__main__":
    main()
