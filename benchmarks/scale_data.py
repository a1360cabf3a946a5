"""Small random graphs in any number, generated on disk as a sharded set."""

from pathlib import Path

import numpy as np

from lfds.data.graphset import GraphSet
from lfds.data.readers.arrays import without_features
from lfds.data.shards.writer import ShardWriter
from lfds.seeds import seed_for

_CHUNK = 1 << 16
_LABELS = 4


def small_graphs(count: int, number: int) -> GraphSet:
    """Return random trees of 3 to 7 nodes with labels, and the parity of a label as class.

    Args:
        count: Number of graphs.
        number: Which graphs: others have other random numbers.
    """
    rng = np.random.default_rng(seed_for(0, "scale", number))
    sizes = rng.integers(3, 8, count)
    ptr = np.concatenate([[0], sizes.cumsum()])
    nodes = int(ptr[-1])
    first = np.repeat(ptr[:-1], sizes)
    place = np.arange(nodes) - first
    # Every node but the first of a graph is joined to one before it.
    parent = first + (rng.random(nodes) * place).astype(np.int64)
    child = np.flatnonzero(place > 0)
    edges = np.stack([child, parent[child]])
    labels = rng.integers(0, _LABELS, nodes)
    y = np.add.reduceat((labels == 1).astype(np.int64), ptr[:-1]) % 2
    both = np.concatenate([edges, edges[::-1]], axis=1)
    graphs = GraphSet.from_arrays(sizes, both, y, labels=labels, name="small trees")
    return without_features(graphs)


def generate(folder: Path, count: int) -> Path:
    """Write small graphs to a sharded set, unless they are there."""
    if (folder / "shards.json").exists():
        return folder
    with ShardWriter(folder, graphs_per_part=_CHUNK) as writer:
        for number, start in enumerate(range(0, count, _CHUNK)):
            writer.add(small_graphs(min(_CHUNK, count - start), number))
    return folder


def large_graph(nodes: int = 2_000_000, pairs: int = 5_000_000) -> GraphSet:
    """Return one random graph, with both directions of every pair, and labels."""
    rng = np.random.default_rng(seed_for(0, "scale", "large"))
    edges = rng.integers(0, nodes, (2, pairs))
    both = np.concatenate([edges, edges[::-1]], axis=1)
    labels = rng.integers(0, _LABELS, nodes)
    return without_features(GraphSet.from_arrays([nodes], both, [0], labels=labels, name="large"))
