import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.explain.drawing import draw_circle
from lfds.explain.record import AtlasNumbers, PoolView, contributions


def pool_view(mass, picks):
    drawing = draw_circle(mass.shape[1], "Loop")
    return PoolView("Loop", drawing, np.float32(mass), np.float32(picks))


def numbers(target, probabilities, pool):
    empty = np.zeros((len(target), 0), dtype=np.float32)
    return AtlasNumbers(
        name="n",
        classes=("a", "b", "c"),
        target=np.array(target),
        probabilities=np.float32(probabilities),
        values=empty,
        true_values=empty,
        pools=(pool,),
        graphs=(),
        head_channels=(4, 8),
    )


MASS = np.array([[0.5, 0.5, 0.0], [0.1, 0.9, 0.0], [0.2, 0.795, 0.005]])
PICKS = np.array([[[4, 0, 0], [0, 4, 0]], [[0, 4, 0], [0, 4, 0]], [[1, 1, 2], [2, 2, 0]]])
PROBABILITIES = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.7, 0.1]]


def test_usage_idle_slots_and_channels_won():
    view = pool_view(MASS, PICKS)
    np.testing.assert_allclose(view.usage, MASS.mean(axis=0), rtol=1e-6)
    assert view.idle.tolist() == [False, False, True]
    np.testing.assert_allclose(view.picked, [[0.5, 0.5, 0], [0, 1, 0], [3 / 8, 3 / 8, 2 / 8]])


def test_a_class_map_is_the_mean_over_the_graphs_of_the_class():
    made = numbers([0, 2, 2], PROBABILITIES, pool_view(MASS, PICKS))
    assert made.grouped_by_target
    np.testing.assert_allclose(made.class_map(made.pools[0], 2), MASS[1:].mean(axis=0), rtol=1e-5)
    assert made.class_map(made.pools[0], 1) is None
    assert made.members(2).tolist() == [1, 2]


def test_without_true_classes_graphs_are_grouped_by_predicted_class():
    made = numbers([-1, -1, -1], PROBABILITIES, pool_view(MASS, PICKS))
    assert not made.grouped_by_target
    assert made.members(1).tolist() == [1, 2]


@given(nodes=st.integers(1, 9), seed=st.integers(0, 99))
def test_contributions_follow_their_definition_and_sum_to_one(nodes, seed):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(5), size=nodes).astype(np.float32)
    picked = rng.dirichlet(np.ones(5)).astype(np.float32)
    found = contributions(shares, picked)
    expected = [
        sum(picked[k] * shares[i, k] / shares[:, k].sum() for k in range(5)) for i in range(nodes)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert found.sum() == pytest.approx(1, rel=1e-4)
