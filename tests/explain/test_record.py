import numpy as np

from lfds.explain.drawing import draw_circle
from lfds.explain.record import AtlasNumbers, PoolView, interest


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


def test_errors_are_more_interesting_than_uncertain_graphs():
    probabilities = np.float32([[0.9, 0.1], [0.55, 0.45], [0.9, 0.1], [0.6, 0.4]])
    empty = np.zeros((4, 0), dtype=np.float32)
    found = interest(np.array([0, 0, 1, 1]), probabilities, empty, empty)
    assert np.argsort(-found).tolist() == [2, 3, 1, 0]
    unknown = interest(np.full(4, -1), probabilities, empty, empty)
    assert np.argmax(unknown) == 1


def test_values_are_interesting_by_their_error():
    none = np.zeros((3, 0), dtype=np.float32)
    values, true = np.float32([[1], [5], [3]]), np.float32([[1], [2], [np.nan]])
    assert np.argmax(interest(np.full(3, -1), none, values, true)) == 1
    nothing = interest(np.full(3, -1), none, values, np.full((3, 1), np.nan, dtype=np.float32))
    assert not nothing.any()
