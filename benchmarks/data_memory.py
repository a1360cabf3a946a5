"""Measure the memory of a memory-mapped dataset while batches are drawn from it.

Run: python benchmarks/data_memory.py
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from lfds.data import GraphSet

GRAPHS, NODES, WIDTH = 20_000, 100, 128

CHILD = """
import resource, sys, torch
from lfds.data import GraphSet
def private():
    pages = dict(line.split(":") for line in open("/proc/self/status") if ":" in line)
    return int(pages["RssAnon"].split()[0]) / 1024, int(pages["VmHWM"].split()[0]) / 1024
before, _ = private()
graphs = GraphSet.load(sys.argv[1], mmap=sys.argv[2] == "mapped")
for chosen in torch.split(torch.randperm(len(graphs))[:3200], 32):
    graphs.batch(chosen)
own, _ = private()
print(f"| {sys.argv[2]} | {own - before:.0f} |")
"""


def ring_set() -> GraphSet:
    nodes = np.arange(GRAPHS * NODES).reshape(GRAPHS, NODES)
    ahead = np.roll(nodes, -1, axis=1).ravel()
    edges = np.concatenate([[nodes.ravel(), ahead], [ahead, nodes.ravel()]], axis=1)
    features = torch.zeros(GRAPHS * NODES, WIDTH)
    return GraphSet.from_arrays([NODES] * GRAPHS, edges, attributes=features, name="rings")


def main() -> None:
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "rings"
        ring_set().save(folder)
        size = sum(file.stat().st_size for file in folder.iterdir()) / 2**20
        print(f"| a dataset of {size:.0f} MiB | private memory after 100 batches, MiB |")
        print("|---|--:|")
        for way in ("mapped", "read at once"):
            subprocess.run([sys.executable, "-c", CHILD, folder, way], check=True)


if __name__ == "__main__":
    main()
