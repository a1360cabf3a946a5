"""Time the reading of TU datasets from raw files, ours and PyG's in turns.

Processor time of one thread is measured.

Run: python benchmarks/data_reading.py FOLDER [NAME ...]
"""

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import torch
from torch_geometric.datasets import TUDataset

from lfds.data.readers.tu import read_tu

ROUNDS = 3


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def compare(source: Path, scratch: Path) -> tuple[float, float, float]:
    """Return the median seconds of ours and theirs, and the median of their ratios."""
    name = source.name
    shutil.copytree(source, scratch / name / "raw")
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(seconds(lambda: read_tu(source)))
        # Without PyG's cache of the last round.
        shutil.rmtree(scratch / name / "processed", ignore_errors=True)
        theirs.append(seconds(lambda: TUDataset(scratch, name, use_node_attr=True)))
    ratios = [their / our for our, their in zip(ours, theirs, strict=True)]
    return median(ours), median(theirs), median(ratios)


def main() -> None:
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    print("| dataset | lfds, s | PyG `TUDataset`, s | ratio |")
    print("|---|--:|--:|--:|")
    for name in sys.argv[2:] or ["MUTAG", "ENZYMES", "PROTEINS", "DD"]:
        with TemporaryDirectory() as scratch:
            ours, theirs, ratio = compare(folder / name, Path(scratch))
        print(f"| {name} | {ours:.3f} | {theirs:.2f} | {ratio:.1f}x |", flush=True)


if __name__ == "__main__":
    # PyG announces its progress on stderr; the table is on stdout.
    main()
