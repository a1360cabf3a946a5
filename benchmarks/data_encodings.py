"""Time structural encodings beside PyG's, and compare embeddings of neighbours and of others.

Run: python benchmarks/data_encodings.py --root DATA [--sets ENZYMES DD pc-graphs] [--workers 2]
Prints Markdown. One thread per process; PyG's transforms run in one process with one thread.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from resource import RUSAGE_CHILDREN, RUSAGE_SELF

import numpy as np
import torch
from torch_geometric.transforms import AddLaplacianEigenvectorPE, AddRandomWalkPE

from lfds.config.registry import ENCODINGS
from lfds.data import GraphSet, load_dataset
from lfds.data.encodings.compute import adjacencies, structural_features

PEERS = {
    "rwse": AddRandomWalkPE(16, attr_name="pe"),
    "laplacian": AddLaplacianEigenvectorPE(8, attr_name="pe"),
}
# A dense power of the matrix of a graph this large takes minutes and gigabytes.
LARGEST_FOR_PEERS = 1500


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cpu_seconds() -> float:
    """Return the processor time of this process and of workers that have ended."""
    mine, workers = (resource.getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN))
    return mine.ru_utime + mine.ru_stime + workers.ru_utime + workers.ru_stime


def peer_seconds(graphs: GraphSet, kind: str) -> str:
    """Return PyG's time over ours, on up to 100 graphs that both can process."""
    if kind not in PEERS:
        return "-"
    few = graphs[np.flatnonzero((graphs.sizes > 20) & (graphs.sizes < LARGEST_FOR_PEERS))]
    few = few[: min(len(few), 100)]
    items = few.to_pyg()
    theirs = seconds(lambda: [PEERS[kind](item) for item in items])
    ours = seconds(lambda: structural_features(few, [ENCODINGS[kind].load()()]))
    return f"{theirs / ours:.1f}x"


def closeness(graphs: GraphSet, features: torch.Tensor) -> tuple[float, float]:
    """Return the mean cosine of neighbours, and of other pairs, over some graphs."""
    near, far = [], []
    bounds = graphs.ptr.tolist()
    for number, adjacency in enumerate(adjacencies(graphs[: min(len(graphs), 60)])):
        rows = features[bounds[number] : bounds[number + 1]]
        rows = torch.nn.functional.normalize(rows.double(), dim=1)
        cosine = (rows @ rows.T).numpy()
        joined = adjacency.toarray() > 0
        apart = ~joined & ~np.eye(len(rows), dtype=bool)
        if joined.any() and apart.any():
            near.append(cosine[joined].mean())
            far.append(cosine[apart].mean())
    return float(np.mean(near)), float(np.mean(far))


def row(graphs: GraphSet, kind: str, workers: int) -> str:
    encodings = (ENCODINGS[kind].load()(),)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        before = cpu_seconds()
        many = seconds(
            lambda: found.append(
                structural_features(graphs, encodings, workers=workers, cache=folder)
            )
        )
        spent = cpu_seconds() - before
        again = seconds(lambda: structural_features(graphs, encodings, cache=folder))
    embedded = kind in {"deepwalk", "netmf"}
    near, far = closeness(graphs, found[0]) if embedded else (0.0, 0.0)
    cosines = f"{near:.2f} / {far:.2f}" if embedded else "-"
    peer = peer_seconds(graphs, kind)
    return f"| {kind} | {many:.1f} | {spent:.1f} | {again:.2f} | {peer} | {cosines} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", default="data")
    parser.add_argument("--sets", nargs="+", default=["ENZYMES", "PROTEINS", "DD", "pc-graphs"])
    parser.add_argument("--kinds", nargs="+", default=list(ENCODINGS))
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.sets:
        graphs = load_dataset(name, options.root)
        print(f"\n**{name}**: {len(graphs)} graphs, {graphs.num_nodes} nodes\n")
        print(
            f"| encoding | {options.workers} processes, s | of which CPU, s | from the cache, s "
            "| PyG's time / ours, one process | cosine of neighbours / others |"
        )
        print("|---|--:|--:|--:|--:|--:|")
        for kind in options.kinds:
            print(row(graphs, kind, options.workers), flush=True)


if __name__ == "__main__":
    main()
