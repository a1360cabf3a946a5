"""Small sets of graphs, and the same in parts."""

from itertools import pairwise

import numpy as np

from lfds.data.graphset import GraphSet
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.data.shards.writer import ShardWriter


def random_graphs(count, *, seed=0, attributes=3, labels=2, edge_attributes=2, classes="abc"):
    """Return graphs of 0 to 7 nodes, directed, with self loops."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 8, count)
    ptr = np.concatenate([[0], sizes.cumsum()])
    edges = [
        rng.integers(low, high, (2, rng.integers(0, 2 * (high - low))))
        for low, high in pairwise(ptr)
        if high > low
    ]
    index = np.concatenate(edges, axis=1) if edges else np.zeros((2, 0), dtype=np.int64)
    nodes = int(ptr[-1])
    return GraphSet.from_arrays(
        sizes,
        index,
        np.array(list(classes))[rng.integers(0, len(classes), count)],
        attributes=rng.normal(size=(nodes, attributes)),
        labels=rng.integers(-2, 3, (nodes, labels)),
        edge_attributes=rng.normal(size=(index.shape[1], edge_attributes)),
        edge_labels=rng.integers(0, 4, (index.shape[1], 1)),
        coordinates=rng.normal(size=(nodes, 2)),
    )


def in_parts(graphs, path, *, graphs_per_part=7, chunk=5):
    """Write graphs to a sharded set, some at a time, and open it."""
    with ShardWriter(path, graphs_per_part=graphs_per_part) as writer:
        for start in range(0, len(graphs), chunk):
            writer.add(graphs[start : start + chunk])
    return ShardedGraphSet(path)
