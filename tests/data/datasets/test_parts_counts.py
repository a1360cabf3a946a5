import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.data.datasets.parts import PartsSettings, draw_counts

TASKS = ("count", "share", "pairs")


@st.composite
def settings(draw, tasks=TASKS):
    types = draw(st.integers(2, 6))
    return PartsSettings(
        task=draw(st.sampled_from(tasks)),
        part_types=types,
        parts=draw(st.integers(2 * types, 40)),
        gap=draw(st.floats(0.01, 1.0)),
        times=draw(st.integers(2, 5)),
    )


def class_of(how, counts):
    """Return the class of an object from its counts, without error."""
    if how.task == "count":
        return int(counts.sum() >= 2 * how.parts)
    if how.task == "share":
        return int(counts[1, 1] > counts[0, 0])
    return int(np.trace(np.roll(counts, -1, axis=1)) > np.trace(counts))


def twins(how, seed, larger):
    """The same object in both classes."""
    return [draw_counts(how, np.random.default_rng(seed), label, larger=larger) for label in (0, 1)]


@given(how=settings(), seed=st.integers(0, 99), larger=st.booleans())
def test_twins_have_the_same_parts_and_different_classes(how, seed, larger):
    first, second = twins(how, seed, larger)
    assert first.shape == second.shape == (how.part_types, how.part_types)
    np.testing.assert_array_equal(first > 0, second > 0)
    assert (first.sum(axis=0) > 0).all()
    assert (first.sum(axis=1) > 0).all()
    assert min(first.min(), second.min()) >= 0
    assert (class_of(how, first), class_of(how, second)) == (0, 1)


@given(how=settings(["count"]), seed=st.integers(0, 99), larger=st.booleans())
def test_twins_of_the_count_task_have_equal_proportions(how, seed, larger):
    few, many = twins(how, seed, larger)
    # Exactly: products of whole numbers.
    np.testing.assert_array_equal(few * many.sum(), many * few.sum())
    assert many.sum() == few.sum() * 2 * (how.times if larger else 1)


@given(how=settings(["share", "pairs"]), seed=st.integers(0, 99), larger=st.booleans())
def test_twins_of_share_and_pairs_have_equally_many_parts(how, seed, larger):
    first, second = twins(how, seed, larger)
    assert first.sum() == second.sum()


@given(how=settings(["pairs"]), seed=st.integers(0, 99), larger=st.booleans())
def test_twins_of_the_pairs_task_have_equal_halves(how, seed, larger):
    first, second = twins(how, seed, larger)
    for axis in (0, 1):
        np.testing.assert_array_equal(first.sum(axis=axis), second.sum(axis=axis))


@pytest.mark.parametrize("task", ["share", "count"])
def test_twins_of_the_other_tasks_have_different_halves(task):
    # What the proof for pairs says of bare sums is no accident of the construction.
    first, second = twins(PartsSettings(task=task), 0, larger=False)
    assert (first.sum(axis=0) != second.sum(axis=0)).any()


@pytest.mark.parametrize("task", TASKS)
def test_a_larger_gap_separates_the_classes_more(task):
    def contrast(gap):
        first, second = twins(PartsSettings(task=task, gap=gap, parts=32), 3, larger=False)
        return np.abs(first / first.sum() - second / second.sum()).sum()

    if task == "count":
        few = [
            max(
                draw_counts(PartsSettings(task=task, gap=gap), np.random.default_rng(s), 0).sum()
                for s in range(30)
            )
            for gap in (0.1, 0.9)
        ]
        assert few[1] < few[0] < 32
    else:
        assert contrast(0.9) > contrast(0.2)


def test_larger_objects_are_larger():
    for task in ("share", "pairs"):
        how = PartsSettings(task=task, times=5)
        small = [twins(how, seed, larger=False)[0].sum() for seed in range(20)]
        large = [twins(how, seed, larger=True)[0].sum() for seed in range(20)]
        assert min(large) > max(small)
