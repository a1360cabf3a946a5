import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.explain.drawing import draw_circle
from lfds.explain.record import AtlasNumbers, PoolView, deciding


def pool_view(mass, picks):
    return PoolView("Loop", draw_circle(mass.shape[1]), np.float32(mass), np.float32(picks))


def numbers(target, probabilities, pool):
    empty = np.zeros((len(target), 0), dtype=np.float32)
    return AtlasNumbers(
        name="n",
        classes=("a", "b", "c"),
        target=np.array(target),
        probabilities=np.float32(probabilities),
        amounts=empty,
        true_amounts=empty,
        pools=(pool,),
        graphs=(),
        through=(4, 8),
    )


MASS = np.array([[0.5, 0.5, 0.0], [0.1, 0.9, 0.0], [0.2, 0.795, 0.005]])
PICKS = np.array([[[4, 0, 0], [0, 4, 0]], [[0, 4, 0], [0, 4, 0]], [[1, 1, 2], [2, 2, 0]]])
SURE = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.7, 0.1]]


def test_usage_is_the_mean_and_idle_what_gets_next_to_nothing():
    view = pool_view(MASS, PICKS)
    np.testing.assert_allclose(view.usage, MASS.mean(axis=0), rtol=1e-6)
    assert view.idle.tolist() == [False, False, True]
    np.testing.assert_allclose(view.picked, [[0.5, 0.5, 0], [0, 1, 0], [3 / 8, 3 / 8, 2 / 8]])


def test_maps_of_classes_are_means_over_their_graphs():
    made = numbers([0, 2, 2], SURE, pool_view(MASS, PICKS))
    assert made.grouped_by_target
    np.testing.assert_allclose(made.class_map(made.pools[0], 2), MASS[1:].mean(axis=0), rtol=1e-5)
    assert made.class_map(made.pools[0], 1) is None
    assert made.members(2).tolist() == [1, 2]


def test_without_known_classes_the_predicted_ones_group():
    made = numbers([-1, -1, -1], SURE, pool_view(MASS, PICKS))
    assert not made.grouped_by_target
    assert made.members(1).tolist() == [1, 2]


@given(nodes=st.integers(1, 9), seed=st.integers(0, 99))
def test_what_was_won_goes_back_to_the_nodes_and_nothing_is_lost(nodes, seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(5), size=nodes).astype(np.float32)
    picked = rng.dirichlet(np.ones(5)).astype(np.float32)
    found = deciding(shares, picked)
    slowly = [
        sum(picked[k] * shares[i, k] / shares[:, k].sum() for k in range(5)) for i in range(nodes)
    ]
    np.testing.assert_allclose(found, slowly, rtol=1e-4)
    assert found.sum() == pytest.approx(1, rel=1e-4)
