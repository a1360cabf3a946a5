r"""Places in the plane for the nodes of a graph, by stress majorisation.

Distances on paper shall be those along edges: :math:`\sum w_{ij} (|x_i - x_j| - d_{ij})^2` with
:math:`w_{ij} = d_{ij}^{-2}` is minimised over all pairs of a small graph, and over the edges and
some pivots of a large one.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.sparse.linalg import splu

from lfds.explain.packing import packed

Places = NDArray[np.float64]
Pairs = NDArray[np.int64]

_ALL_PAIRS_UP_TO = 300
_PIVOTS = 24
_ROUNDS = 60


def lay_out(num_nodes: int, edges: NDArray[np.int64]) -> Places:
    """Return places ``[nodes, 2]`` within -1 and 1; parts that hang together stay together.

    Args:
        num_nodes: How many nodes there are.
        edges: ``[edges, 2]``, in one direction or both; loops are without effect.
    """
    if num_nodes == 0:
        return np.zeros((0, 2))
    lengths = np.ones(len(edges))
    graph = csr_array((lengths, (edges[:, 0], edges[:, 1])), shape=(num_nodes, num_nodes))
    count, part_of = connected_components(graph, directed=False)
    parts = [np.flatnonzero(part_of == part) for part in range(count)]
    drawn = [upright(_connected(graph[nodes][:, nodes])) for nodes in parts]
    places = np.empty((num_nodes, 2))
    for nodes, own in zip(parts, packed(drawn), strict=True):
        places[nodes] = own
    return fitted(places)


def fitted(places: Places) -> Places:
    """Move and scale places, the same way in all directions, to lie within -1 and 1."""
    if len(places) == 0:
        return places
    centred = places - (places.max(axis=0) + places.min(axis=0)) / 2
    scaled: Places = centred / max(float(np.abs(centred).max()), 1e-9)
    return scaled


def upright(places: Places) -> Places:
    """Turn places so that they are as wide and as little high as can be."""
    if len(places) < 3:
        return places
    centred = places - places.mean(axis=0)
    turned: Places = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
    return turned


def majorised(start: Places, pairs: Pairs, wanted: NDArray[np.float64]) -> Places:
    """Move places until distances of ``pairs`` are nearly ``wanted``.

    Each round solves for the minimum of a parabola that lies above the stress and touches it at
    the present places: the stress never rises.

    Args:
        start: ``[nodes, 2]``.
        pairs: ``[pairs, 2]``; all nodes hang together by them.
        wanted: Their distances, ``[pairs]``, above zero.
    """
    first, second = pairs.T
    weights = wanted**-2
    # One node stays where it is: without it places could move together, for nothing.
    solve = splu(_laplacian(len(start), first, second, weights)[1:, 1:].tocsc()).solve
    places: Places = start - start[0]
    for _ in range(_ROUNDS):
        apart = places[first] - places[second]
        distance = np.maximum(np.hypot(apart[:, 0], apart[:, 1]), 1e-9)
        pull = (weights * wanted / distance)[:, None] * apart
        force = np.zeros_like(places)
        np.add.at(force, first, pull)
        np.subtract.at(force, second, pull)
        moved = np.vstack([np.zeros((1, 2)), solve(force[1:])])
        settled = np.abs(moved - places).max() < 1e-3 * np.abs(moved).max()
        places = moved
        if settled:
            break
    return places


def _connected(graph: csr_array) -> Places:
    num_nodes = graph.shape[0]
    if num_nodes == 1:
        return np.zeros((1, 2))
    pivots = _pivots(graph, num_nodes if num_nodes <= _ALL_PAIRS_UP_TO else _PIVOTS)
    steps = dijkstra(graph, directed=False, unweighted=True, indices=pivots)
    pairs, wanted = _pairs(graph, pivots, steps)
    return majorised(_projected(steps), pairs, wanted)


def _pivots(graph: csr_array, count: int) -> Pairs:
    """Choose nodes far from each other, one by one."""
    num_nodes = graph.shape[0]
    if count == num_nodes:
        return np.arange(num_nodes)
    chosen = [0]
    nearest = np.full(num_nodes, np.inf)
    while len(chosen) < count:
        steps = dijkstra(graph, directed=False, unweighted=True, indices=chosen[-1])
        nearest = np.minimum(nearest, steps)
        chosen.append(int(nearest.argmax()))
    return np.array(chosen)


def _pairs(graph: csr_array, pivots: Pairs, steps: Places) -> tuple[Pairs, NDArray[np.float64]]:
    """All pairs of a pivot and a node, and the edges; each once."""
    num_nodes = graph.shape[0]
    ends = graph.tocoo()
    first = np.concatenate([np.repeat(pivots, num_nodes), ends.coords[0]])
    second = np.concatenate([np.tile(np.arange(num_nodes), len(pivots)), ends.coords[1]])
    wanted = np.concatenate([steps.ravel(), np.ones(ends.nnz)])
    keys = np.minimum(first, second) * num_nodes + np.maximum(first, second)
    once = np.unique(keys, return_index=True)[1]
    once = once[first[once] != second[once]]
    return np.stack([first[once], second[once]], axis=1), wanted[once]


def _projected(steps: Places) -> Places:
    """A start: the two directions in which distances to the pivots differ most."""
    squared = steps.T**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    start = np.zeros((len(squared), 2))
    width = min(2, len(sizes))
    start[:, :width] = left[:, :width] * np.sqrt(sizes[:width])
    # Nodes with equal distances to all others, as leaves of a star, would never part.
    noise = np.random.default_rng(0).normal(size=start.shape)
    return start + 0.05 * noise


def _laplacian(size: int, first: Pairs, second: Pairs, weights: NDArray[np.float64]) -> csr_array:
    rows = np.concatenate([first, second, first, second])
    columns = np.concatenate([second, first, first, second])
    values = np.concatenate([-weights, -weights, weights, weights])
    return coo_array((values, (rows, columns)), shape=(size, size)).tocsr()
