from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.explain import layout
from lfds.explain.layout import fitted, lay_out, majorised, upright


def edges_of(graph):
    numbered = nx.convert_node_labels_to_integers(graph)
    return np.array(numbered.edges, dtype=np.int64).reshape(-1, 2)


def least_stress(places, graph):
    """The stress at the best of many sizes: a layout is drawn at any."""
    wanted = nx.floyd_warshall_numpy(nx.convert_node_labels_to_integers(graph))
    pairs = np.triu_indices(len(wanted), k=1)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)[pairs] / wanted[pairs]
    return min(((size * apart - 1) ** 2).sum() for size in np.geomspace(0.2, 40, 120))


@given(
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=4),
    seed=st.integers(0, 99),
    chance=st.floats(0, 1),
)
def test_any_graph_has_a_layout(sizes, seed, chance):
    parts = [nx.gnp_random_graph(size, chance, seed=seed) for size in sizes]
    graph = nx.disjoint_union_all(parts)
    places = lay_out(sum(sizes), edges_of(graph))
    assert places.shape == (sum(sizes), 2)
    assert np.isfinite(places).all()
    assert np.abs(places).max() <= 1 + 1e-9
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(len(places))
    assert apart.min() > 1e-4  # no two nodes on one spot


def test_no_nodes_one_node_and_loops():
    none = np.zeros((0, 2), dtype=np.int64)
    assert lay_out(0, none).shape == (0, 2)
    np.testing.assert_array_equal(lay_out(1, none), [[0, 0]])
    np.testing.assert_array_equal(lay_out(1, np.array([[0, 0]])), [[0, 0]])


def test_a_path_is_straight_and_a_circle_round():
    path = lay_out(9, edges_of(nx.path_graph(9)))
    np.testing.assert_allclose(np.abs(np.diff(path[:, 0])), 2 / 8, atol=0.02)
    np.testing.assert_allclose(path[:, 1], 0, atol=0.01)
    circle = lay_out(12, edges_of(nx.cycle_graph(12)))
    radii = np.linalg.norm(circle - circle.mean(axis=0), axis=1)
    np.testing.assert_allclose(radii, radii.mean(), rtol=0.03)


@pytest.mark.parametrize("graph", [nx.grid_2d_graph(5, 6), nx.balanced_tree(2, 4)])
def test_distances_are_as_true_as_those_of_networkx(graph):
    mine = lay_out(len(graph), edges_of(graph))
    theirs = nx.kamada_kawai_layout(nx.convert_node_labels_to_integers(graph))
    ours, rival = least_stress(mine, graph), least_stress(np.array(list(theirs.values())), graph)
    assert ours <= 1.15 * rival


def test_a_round_never_raises_the_stress(monkeypatch):
    graph = nx.grid_2d_graph(4, 4)
    steps = dict(nx.all_pairs_shortest_path_length(nx.convert_node_labels_to_integers(graph)))
    pairs = np.array([(i, j) for i in range(16) for j in range(i)])
    wanted = np.array([steps[i][j] for i, j in pairs], dtype=float)
    start = np.random.default_rng(0).normal(size=(16, 2))
    found = []
    for rounds in range(1, 12):
        monkeypatch.setattr(layout, "_ROUNDS", rounds)
        places = majorised(start, pairs, wanted)
        apart = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
        found.append(((apart / wanted - 1) ** 2).sum())
    assert all(after <= before + 1e-9 for before, after in pairwise(found))
    assert found[-1] < 0.5 * found[0]


def test_large_graphs_are_laid_out_by_pivots_nearly_as_well(monkeypatch):
    graph = nx.grid_2d_graph(9, 10)
    exact = least_stress(lay_out(90, edges_of(graph)), graph)
    monkeypatch.setattr(layout, "_ALL_PAIRS_UP_TO", 10)
    assert least_stress(lay_out(90, edges_of(graph)), graph) < 2 * exact + 5


def test_thousands_of_nodes_are_no_trouble():
    graph = nx.random_labeled_tree(3000, seed=0)
    places = lay_out(3000, edges_of(graph))
    ends = places[edges_of(graph)]
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    assert np.median(lengths) < 0.1  # neighbours are near


def test_parts_do_not_run_into_each_other():
    graph = nx.disjoint_union_all([nx.cycle_graph(8), nx.complete_graph(5), nx.path_graph(3)])
    places = lay_out(16, edges_of(graph))
    boxes = [(p.min(axis=0), p.max(axis=0)) for p in (places[:8], places[8:13], places[13:])]
    for place, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:place]:
            assert (low > other_high).any() or (high < other_low).any()


def test_turning_and_fitting_keep_the_shape():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(20, 2)) * (1, 5) + 3
    turned = upright(places)
    assert np.ptp(turned[:, 0]) > np.ptp(turned[:, 1])
    before = np.linalg.norm(places[:, None] - places[None], axis=2)
    after = np.linalg.norm(turned[:, None] - turned[None], axis=2)
    np.testing.assert_allclose(after, before)
    scaled = fitted(places)
    ratio = np.linalg.norm(scaled[0] - scaled[1]) / before[0, 1]
    np.testing.assert_allclose(
        np.linalg.norm(scaled[:, None] - scaled[None], axis=2), ratio * before
    )
    assert np.abs(scaled).max() == pytest.approx(1)
