import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.data import DataError
from lfds.data.splits import (
    check_splits,
    grouped_folds,
    grouped_split,
    random_grouped_split,
    random_split,
)

groups = st.builds(
    lambda seed, count: np.random.default_rng(seed).integers(0, 30, count),
    st.integers(0, 999),
    st.integers(80, 150),
)


def parts(split):
    return split.train, split.validation, split.test


def assert_apart(split, group_of):
    """No group is in two parts."""
    found = [{group_of[row] for row in part} for part in parts(split)]
    assert len(set.union(*found)) == sum(map(len, found))


@given(groups, st.integers(2, 5), st.integers(0, 99))
def test_groups_stay_together_in_every_fold(group_of, folds, seed):
    splits = grouped_folds(group_of, folds=folds, seed=seed)
    check_splits(splits, len(group_of), source="folds")
    for split in splits:
        assert_apart(split, group_of)


def test_a_random_split_fails_the_check_of_groups():
    group_of = np.arange(60) // 2
    with pytest.raises(AssertionError):
        assert_apart(random_split(np.zeros(60, dtype=int)), group_of)


@given(groups)
def test_a_grouped_split_has_every_graph_once(group_of):
    split = grouped_split(group_of)
    assert sorted(sum(parts(split), ())) == list(range(len(group_of)))
    assert_apart(split, group_of)
    assert len(split.train) <= 0.8 * len(group_of) + 1
    sizes = np.bincount(group_of)
    assert max(sizes) in {sizes[group_of[row]] for row in split.train}


def test_of_equal_groups_the_first_are_tested():
    """As in MoleculeNet, whose order makes the test part of BBBP one of both classes."""
    split = grouped_split(np.array([0, 1, 2, 3, 4, 5, 6, 6, 6, 7]), validation=0.2, test=0.2)
    assert parts(split) == ((4, 5, 6, 7, 8, 9), (2, 3), (0, 1))


group_sizes = st.lists(st.integers(1, 40), min_size=3, max_size=40)


@given(group_sizes, st.integers(0, 99))
def test_a_random_grouped_split_has_all_graphs_once_and_no_empty_part(sizes, seed):
    group_of = np.repeat(np.arange(len(sizes)), sizes)
    split = random_grouped_split(group_of, seed=seed)
    assert sorted(sum(parts(split), ())) == list(range(len(group_of)))
    assert all(parts(split))
    assert_apart(split, group_of)
    assert random_grouped_split(group_of, seed=seed) == split


@given(groups, st.integers(0, 99))
def test_parts_of_a_random_grouped_split_have_their_sizes(group_of, seed):
    """No farther from a tenth than half of the largest group."""
    split = random_grouped_split(group_of, seed=seed)
    for part in (split.validation, split.test):
        assert abs(len(part) - len(group_of) / 10) <= np.bincount(group_of).max() / 2 + 1


@pytest.mark.parametrize(
    "sizes", [[19, 18, 19, 17, 20, 18, 18], [30, 40, 50], [9] * 30, [60, *[2] * 20]]
)
def test_the_seed_of_a_random_grouped_split_matters(sizes):
    group_of = np.repeat(np.arange(len(sizes)), sizes)
    drawn = {random_grouped_split(group_of, seed=seed) for seed in range(8)}
    assert len(drawn) > 1


def test_seven_groups_of_about_a_seventh_are_split():
    """The scaffold split has no validation graphs then."""
    group_of = np.repeat(np.arange(7), [19, 18, 19, 17, 20, 18, 18])
    with pytest.raises(DataError, match="leaves no validation graphs"):
        grouped_split(group_of)
    assert [len(set(group_of[list(part)])) for part in parts(random_grouped_split(group_of))] == [
        5, 1, 1,
    ]  # fmt: skip


def test_without_a_share_a_part_of_a_random_grouped_split_is_empty():
    split = random_grouped_split(np.array([0, 0, 1]), validation=0)
    assert parts(split) == ((0, 1), (), (2,))


def test_the_scaffold_split_is_as_published():
    """The largest groups first, whatever their numbers; it has no seed."""
    group_of = np.random.default_rng(0).integers(0, 20, 60)
    assert grouped_split(group_of).test == (4, 8, 11, 19, 31, 43)


@given(st.integers(20, 200), st.integers(0, 9))
def test_a_random_split_keeps_the_proportions_of_classes(count, seed):
    y = np.arange(count) % 2
    split = random_split(y, seed=seed)
    assert sorted(sum(parts(split), ())) == list(range(count))
    assert len(split.test) == round(0.1 * count)
    for part in parts(split):
        assert abs(y[list(part)].sum() - len(part) / 2) <= 3
    assert random_split(y, seed=seed) == split


def test_seeds_split_otherwise():
    assert random_split(np.zeros(50, dtype=int), seed=0) != random_split(
        np.zeros(50, dtype=int), seed=1
    )


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (lambda: grouped_split(np.zeros(50, dtype=int)), "splits: leaves no training graphs"),
        (lambda: grouped_split(np.arange(50) % 4), "leaves no validation graphs: 4 groups"),
        (lambda: random_split(np.zeros(3, dtype=int)), "3 graphs cannot be split"),
        (
            lambda: random_grouped_split(np.arange(9) % 2),
            "splits: needs at least 3 groups, .*not 2",
        ),
        (lambda: random_grouped_split(np.arange(3), test=0.9), "3 graphs cannot be split"),
        (lambda: grouped_folds(np.arange(2), folds=4), "folds: needs 2, the number of groups, not"),
        (lambda: grouped_folds(np.zeros(3, dtype=int)), "folds: needs at least 2 groups, not 1"),
        (lambda: grouped_folds(np.arange(3), folds=4), "folds: needs 2 to 3, the number of groups"),
    ],
)
def test_splits_that_cannot_be_made_are_named(split, message):
    with pytest.raises(DataError, match=message):
        split()
