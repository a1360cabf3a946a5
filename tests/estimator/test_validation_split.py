import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.estimator.validation_split import inner_parts


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=60),
    st.floats(0, 0.99),
    st.integers(0, 2**40),
)
def test_parts_share_nothing_leave_nothing_and_train_on_every_class(kinds, share, seed):
    kinds = np.array(kinds)
    train, watched = inner_parts(kinds, share, seed)
    assert sorted([*train, *watched]) == list(range(len(kinds)))
    assert set(kinds[train]) == set(kinds)
    assert len(watched) <= round(share * len(kinds))


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_classes_are_watched_in_proportion(share):
    kinds = np.repeat([0, 1, 2], [200, 100, 50])
    _, watched = inner_parts(kinds, share, 0)
    counts = np.bincount(kinds[watched], minlength=3)
    assert np.abs(counts - share * np.array([200, 100, 50])).max() <= 1
    assert counts.sum() == round(share * 350)


def test_another_seed_watches_others():
    kinds = np.zeros(50, dtype=int)
    same = [inner_parts(kinds, 0.2, seed)[1].tolist() for seed in (0, 0, 1)]
    assert same[0] == same[1] != same[2]
