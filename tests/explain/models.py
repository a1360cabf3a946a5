"""Small fitted models to make atlases of."""

from functools import lru_cache

import numpy as np

import lfds
from lfds.data.datasets.pc_graphs.generate import PCGraphsSettings, pc_graphs
from lfds.nn import Edges


@lru_cache
def clouds() -> lfds.GraphSet:
    """Sixteen small graphs with coordinates, of eight classes."""
    return pc_graphs(PCGraphsSettings(graphs_per_class=2, points=20, neighbours=3)).graphs


@lru_cache
def fitted(structure: str = "loop", slots: int = 9, classes: str = "plain") -> lfds.LFDSClassifier:
    """A classifier of the clouds after two epochs."""
    small = {"width": 8, "layers": 2}
    names = structure.split("+")
    model = lfds.LFDSClassifier(names, slots=slots, epochs=2, options=small, validation=0.0)
    return model.fit(clouds(), labels(classes))


def labels(classes: str = "plain") -> np.ndarray:
    """The class of each cloud; the names of ``odd`` classes contain HTML and a formula."""
    names = np.array(clouds().classes)[clouds().y.numpy()]
    odd = " </script><script>alert(1)</script> $x_1"
    return np.char.add(names, odd) if classes == "odd" else names


def paths() -> lfds.GraphSet:
    """Paths of 1 to 6 nodes and a graph without nodes; no coordinates, no labels."""
    sizes = [1, 2, 3, 4, 5, 6, 0]
    starts = np.cumsum([0, *sizes[:-1]])
    pairs = [
        (first + step, first + step + 1)
        for first, size in zip(starts, sizes, strict=True)
        for step in range(size - 1)
    ]
    edges = np.array(pairs).T
    return lfds.GraphSet.from_arrays(sizes, np.concatenate([edges, edges[::-1]], axis=1))


def pool_inputs(network, batch):
    """The nodes that the pools of a network receive: all layers of its base, concatenated."""
    edges = Edges.from_rows(batch.edge_ptr, batch.edge_dst)
    return network.base(batch.x, edges, batch.ptr)[0]
