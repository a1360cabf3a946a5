from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.explain.layout import (
    align_horizontally,
    fit_to_square,
    minimize_stress,
    pack_components,
    stress_layout,
)


def edges_of(graph):
    numbered = nx.convert_node_labels_to_integers(graph)
    return np.array(numbered.edges, dtype=np.int64).reshape(-1, 2)


def distances_of(positions):
    return np.linalg.norm(positions[:, None] - positions[None], axis=2)


def least_stress(positions, graph):
    """The stress at the best of many scales, since the scale of a layout is arbitrary."""
    wanted = nx.floyd_warshall_numpy(nx.convert_node_labels_to_integers(graph))
    pairs = np.triu_indices(len(wanted), k=1)
    ratios = distances_of(positions)[pairs] / wanted[pairs]
    return min(((scale * ratios - 1) ** 2).sum() for scale in np.geomspace(0.2, 40, 120))


@given(
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=4),
    seed=st.integers(0, 99),
    chance=st.floats(0, 1),
)
def test_positions_of_any_graph_are_distinct_and_inside_the_picture(sizes, seed, chance):
    parts = [nx.gnp_random_graph(size, chance, seed=seed) for size in sizes]
    positions = stress_layout(sum(sizes), edges_of(nx.disjoint_union_all(parts)))
    assert positions.shape == (sum(sizes), 2)
    assert np.isfinite(positions).all()
    assert np.abs(positions).max() <= 1 + 1e-9
    assert (distances_of(positions) + np.eye(len(positions))).min() > 1e-4


def test_no_nodes_one_node_and_self_loops():
    none = np.zeros((0, 2), dtype=np.int64)
    assert stress_layout(0, none).shape == (0, 2)
    np.testing.assert_array_equal(stress_layout(1, none), [[0, 0]])
    np.testing.assert_array_equal(stress_layout(1, np.array([[0, 0]])), [[0, 0]])


def test_a_path_is_straight_and_a_cycle_is_round():
    path = stress_layout(9, edges_of(nx.path_graph(9)))
    np.testing.assert_allclose(np.abs(np.diff(path[:, 0])), 2 / 8, atol=0.02)
    np.testing.assert_allclose(path[:, 1], 0, atol=0.01)
    circle = stress_layout(12, edges_of(nx.cycle_graph(12)))
    radii = np.linalg.norm(circle - circle.mean(axis=0), axis=1)
    np.testing.assert_allclose(radii, radii.mean(), rtol=0.03)


@pytest.mark.parametrize("graph", [nx.grid_2d_graph(5, 6), nx.balanced_tree(2, 4)])
def test_the_stress_is_similar_to_that_of_networkx(graph):
    ours = stress_layout(len(graph), edges_of(graph))
    theirs = nx.kamada_kawai_layout(nx.convert_node_labels_to_integers(graph))
    reference = least_stress(np.array(list(theirs.values())), graph)
    assert least_stress(ours, graph) <= 1.15 * reference


def test_an_iteration_never_raises_the_stress():
    graph = nx.grid_2d_graph(4, 4)
    steps = dict(nx.all_pairs_shortest_path_length(nx.convert_node_labels_to_integers(graph)))
    pairs = np.array([(i, j) for i in range(16) for j in range(i)])
    wanted = np.array([steps[i][j] for i, j in pairs], dtype=float)
    start = np.random.default_rng(0).normal(size=(16, 2))
    found = []
    for iterations in range(1, 12):
        positions = minimize_stress(start, pairs, wanted, iterations=iterations)
        distances = np.linalg.norm(positions[pairs[:, 0]] - positions[pairs[:, 1]], axis=1)
        found.append(((distances / wanted - 1) ** 2).sum())
    assert all(after <= before + 1e-9 for before, after in pairwise(found))
    assert found[-1] < 0.5 * found[0]


def test_pivots_give_nearly_the_same_stress():
    graph = nx.grid_2d_graph(9, 10)
    exact = least_stress(stress_layout(90, edges_of(graph)), graph)
    by_pivots = stress_layout(90, edges_of(graph), all_pairs_up_to=10)
    assert least_stress(by_pivots, graph) < 2 * exact + 5


def test_thousands_of_nodes():
    graph = nx.random_labeled_tree(3000, seed=0)
    ends = stress_layout(3000, edges_of(graph))[edges_of(graph)]
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    assert np.median(lengths) < 0.1  # neighbours are close


def test_components_do_not_overlap():
    graph = nx.disjoint_union_all([nx.cycle_graph(8), nx.complete_graph(5), nx.path_graph(3)])
    positions = stress_layout(16, edges_of(graph))
    parts = positions[:8], positions[8:13], positions[13:]
    boxes = [(part.min(axis=0), part.max(axis=0)) for part in parts]
    for number, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:number]:
            assert (low > other_high).any() or (high < other_low).any()


def test_rotating_and_scaling_keep_the_shape():
    rng = np.random.default_rng(0)
    positions = rng.normal(size=(20, 2)) * (1, 5) + 3
    rotated = align_horizontally(positions)
    assert np.ptp(rotated[:, 0]) > np.ptp(rotated[:, 1])
    before = distances_of(positions)
    np.testing.assert_allclose(distances_of(rotated), before)
    scaled = fit_to_square(positions)
    ratio = np.linalg.norm(scaled[0] - scaled[1]) / before[0, 1]
    np.testing.assert_allclose(distances_of(scaled), ratio * before)
    assert np.abs(scaled).max() == pytest.approx(1)


@given(sizes=st.lists(st.integers(1, 6), min_size=1, max_size=8), seed=st.integers(0, 99))
def test_packed_components_keep_their_shape_and_are_apart(sizes, seed):
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(size, 2)) * 3 for size in sizes]
    moved = pack_components(parts)
    for before, after in zip(parts, moved, strict=True):
        np.testing.assert_allclose(after - after[0], before - before[0], atol=1e-9)
    boxes = [(part.min(axis=0), part.max(axis=0)) for part in moved]
    for number, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:number]:
            gap = np.maximum(low - other_high, other_low - high).max()
            assert gap >= 1 - 1e-6


def test_many_single_nodes_are_packed_in_several_rows():
    moved = np.concatenate(pack_components([np.zeros((1, 2))] * 30))
    width, height = np.ptp(moved, axis=0)
    assert 1 / 3 < width / height < 3
