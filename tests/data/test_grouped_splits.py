import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.data import DataError
from lfds.data.splits import check_splits, grouped_folds, grouped_split, random_split

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
        (lambda: grouped_folds(np.arange(3), folds=4), "folds: needs 2 to 3, the number of groups"),
    ],
)
def test_splits_that_cannot_be_made_are_named(split, message):
    with pytest.raises(DataError, match=message):
        split()
