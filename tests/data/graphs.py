"""Small sets of graphs for tests, fixed and random."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from lfds.data import GraphSet

SHARED = Path(os.environ.get("LFDS_SHARED", Path(__file__).parents[3] / "shared")) / "data"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="real datasets are not beside the repository (LFDS_SHARED)"
)


def three_graphs() -> GraphSet:
    """A path of three nodes, a graph without nodes, and two joined nodes, one with a loop."""
    return GraphSet.from_arrays(
        [3, 0, 2],
        [[0, 1, 1, 2, 3, 4, 4], [1, 0, 2, 1, 4, 3, 4]],
        [-1, 1, 1],
        attributes=np.arange(10.0).reshape(5, 2) / 3,
        labels=[7, 5, 7, 5, 9],
        edge_attributes=np.arange(7.0)[:, None],
        edge_labels=[1, 1, 2, 2, 1, 1, 3],
        name="three",
    )


@st.composite
def graph_sets(draw: st.DrawFn, *, min_nodes: int = 0) -> GraphSet:
    """Any small set: empty graphs, isolated nodes, loops, one-way and repeated edges."""
    sizes = draw(st.lists(st.integers(min_nodes, 5), min_size=1, max_size=5))
    edges = []
    for first, size in zip(np.cumsum([0, *sizes[:-1]]).tolist(), sizes, strict=True):
        if size:
            node = st.integers(first, first + size - 1)
            edges += draw(st.lists(st.tuples(node, node), max_size=8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    attributes = draw(st.booleans())
    targets = {
        "integers": rng.integers(-2, 3, len(sizes)),
        "names": rng.choice(["left", "right", "up"], len(sizes)),
        "floats": rng.normal(size=len(sizes)),
        "several": rng.normal(size=(len(sizes), 2)),
    }
    return GraphSet.from_arrays(
        sizes,
        np.array(edges, dtype=np.int64).reshape(-1, 2).T,
        targets[draw(st.sampled_from(sorted(targets)))],
        attributes=rng.normal(size=(sum(sizes), 2)) if attributes else None,
        labels=rng.integers(-3, 9, sum(sizes)) if draw(st.booleans()) else None,
        edge_attributes=rng.normal(size=(len(edges), 1)) if attributes else None,
        edge_labels=rng.integers(0, 4, len(edges)) if draw(st.booleans()) else None,
        name="drawn",
    )


def edge_list(graphs: GraphSet) -> list[list[tuple[int, int]]]:
    """The (sender, receiver) pairs of each graph, by plain loops."""
    result = []
    for graph in range(len(graphs)):
        first, last = int(graphs.ptr[graph]), int(graphs.ptr[graph + 1])
        result.append(
            [
                (int(sender), node - first)
                for node in range(first, last)
                for sender in graphs.edge_dst[graphs.edge_ptr[node] : graphs.edge_ptr[node + 1]]
            ]
        )
    return result
