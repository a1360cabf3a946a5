r"""Node positions in the plane by stress majorization.

Distances in the picture approximate distances along edges:
:math:`\sum w_{ij} (|x_i - x_j| - d_{ij})^2` with :math:`w_{ij} = d_{ij}^{-2}` is minimized over all
pairs of nodes of a small graph, and over the edges and some pivots of a large one.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.sparse.linalg import splu

Positions = NDArray[np.float64]
Pairs = NDArray[np.int64]

_PIVOTS = 24
_GAP = 1.0  # between components: the length of an edge


def stress_layout(num_nodes: int, edges: Pairs, *, all_pairs_up_to: int = 300) -> Positions:
    """Return positions ``[nodes, 2]`` within -1 and 1; components are drawn side by side.

    Args:
        num_nodes: Number of nodes.
        edges: ``[edges, 2]``, in one direction or both; self loops have no effect.
        all_pairs_up_to: Number of nodes of a component beyond which pivots are used.
    """
    if num_nodes == 0:
        return np.zeros((0, 2))
    lengths = np.ones(len(edges))
    graph = csr_array((lengths, (edges[:, 0], edges[:, 1])), shape=(num_nodes, num_nodes))
    count, component_of = connected_components(graph, directed=False)
    components = [np.flatnonzero(component_of == number) for number in range(count)]
    drawn = [
        align_horizontally(_connected(graph[nodes][:, nodes], all_pairs_up_to))
        for nodes in components
    ]
    positions = np.empty((num_nodes, 2))
    for nodes, own in zip(components, pack_components(drawn), strict=True):
        positions[nodes] = own
    return fit_to_square(positions)


def fit_to_square(positions: Positions) -> Positions:
    """Shift and scale positions, by the same factor in all directions, to within -1 and 1."""
    if len(positions) == 0:
        return positions
    centred = positions - (positions.max(axis=0) + positions.min(axis=0)) / 2
    scaled: Positions = centred / max(float(np.abs(centred).max()), 1e-9)
    return scaled


def align_horizontally(positions: Positions) -> Positions:
    """Rotate positions so that their principal axis is horizontal."""
    if len(positions) < 3:
        return positions
    centred = positions - positions.mean(axis=0)
    rotated: Positions = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
    return rotated


def minimize_stress(
    start: Positions, pairs: Pairs, distances: NDArray[np.float64], *, iterations: int = 60
) -> Positions:
    """Move positions until the distances of ``pairs`` are nearly ``distances``.

    Each iteration minimizes a parabola that bounds the stress from above and touches it at the
    current positions: the stress never rises.

    Args:
        start: ``[nodes, 2]``.
        pairs: ``[pairs, 2]``, which connect all nodes.
        distances: ``[pairs]``, above zero.
        iterations: Number of iterations, at most.
    """
    first, second = pairs.T
    weights = distances**-2
    # One node is fixed; otherwise the system is singular.
    solve = splu(_laplacian(len(start), first, second, weights)[1:, 1:].tocsc()).solve
    positions: Positions = start - start[0]
    for _ in range(iterations):
        difference = positions[first] - positions[second]
        current = np.maximum(np.hypot(difference[:, 0], difference[:, 1]), 1e-9)
        pull = (weights * distances / current)[:, None] * difference
        force = np.zeros_like(positions)
        np.add.at(force, first, pull)
        np.subtract.at(force, second, pull)
        moved = np.vstack([np.zeros((1, 2)), solve(force[1:])])
        converged = np.abs(moved - positions).max() < 1e-3 * np.abs(moved).max()
        positions = moved
        if converged:
            break
    return positions


def pack_components(components: Sequence[Positions]) -> list[Positions]:
    """Place components ``[nodes, 2]`` in rows of similar width, the highest first.

    Their bounding boxes are at least the length of an edge apart, which is one.
    """
    boxes = np.array([np.ptp(part, axis=0) for part in components]).reshape(-1, 2) + _GAP
    width = max(float(np.sqrt(boxes.prod(axis=1).sum()) * 1.3), float(boxes[:, 0].max(initial=0)))
    moved: list[Positions] = [np.empty((0, 2))] * len(components)
    x = y = height = 0.0
    for number in np.argsort(-boxes[:, 1], kind="stable"):
        if x + boxes[number, 0] > width + 1e-9:
            x, y, height = 0.0, y - height, 0.0
        corner = np.array([x, y - boxes[number, 1]])
        moved[number] = components[number] - components[number].min(axis=0) + corner
        x, height = x + boxes[number, 0], max(height, float(boxes[number, 1]))
    return moved


def _connected(graph: csr_array, all_pairs_up_to: int) -> Positions:
    num_nodes = graph.shape[0]
    if num_nodes == 1:
        return np.zeros((1, 2))
    pivots = _pivots(graph, num_nodes if num_nodes <= all_pairs_up_to else _PIVOTS)
    steps = dijkstra(graph, directed=False, unweighted=True, indices=pivots)
    pairs, distances = _pairs(graph, pivots, steps)
    return minimize_stress(_initial(steps), pairs, distances)


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


def _pairs(graph: csr_array, pivots: Pairs, steps: Positions) -> tuple[Pairs, NDArray[np.float64]]:
    """All pairs of a pivot and a node, and the edges; each once."""
    num_nodes = graph.shape[0]
    ends = graph.tocoo()
    first = np.concatenate([np.repeat(pivots, num_nodes), ends.coords[0]])
    second = np.concatenate([np.tile(np.arange(num_nodes), len(pivots)), ends.coords[1]])
    distances = np.concatenate([steps.ravel(), np.ones(ends.nnz)])
    keys = np.minimum(first, second) * num_nodes + np.maximum(first, second)
    once = np.unique(keys, return_index=True)[1]
    once = once[first[once] != second[once]]
    return np.stack([first[once], second[once]], axis=1), distances[once]


def _initial(steps: Positions) -> Positions:
    """Classical scaling: the two directions in which distances to the pivots differ most."""
    squared = steps.T**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    start = np.zeros((len(squared), 2))
    width = min(2, len(sizes))
    start[:, :width] = left[:, :width] * np.sqrt(sizes[:width])
    # Nodes with equal distances to all others, as the leaves of a star, would stay on one spot.
    noise = np.random.default_rng(0).normal(size=start.shape)
    return start + 0.05 * noise


def _laplacian(size: int, first: Pairs, second: Pairs, weights: NDArray[np.float64]) -> csr_array:
    rows = np.concatenate([first, second, first, second])
    columns = np.concatenate([second, first, first, second])
    values = np.concatenate([-weights, -weights, weights, weights])
    return coo_array((values, (rows, columns)), shape=(size, size)).tocsr()
