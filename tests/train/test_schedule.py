import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.train.schedule import learning_rate

SHAPES = ["exponential", "cosine", "linear"]


@pytest.mark.parametrize("decay", SHAPES)
@given(epochs=st.integers(2, 200))
def test_it_begins_and_ends_where_it_should_and_never_rises(decay, epochs):
    rates = [learning_rate(decay, 0.005, 0.0001, epoch, epochs) for epoch in range(epochs)]
    assert rates[0] == pytest.approx(0.005)
    # An end that is reached one epoch after the last would be the culprit.
    assert rates[-1] == pytest.approx(0.0001)
    assert all(before > after for before, after in itertools.pairwise(rates))


def test_the_shapes_differ_on_the_way():
    half = [learning_rate(decay, 1.0, 0.01, 1, 3) for decay in SHAPES]
    assert half == pytest.approx([0.1, 0.505, 0.505])
    quarter = [learning_rate(decay, 1.0, 0.01, 1, 5) for decay in SHAPES]
    assert len({round(rate, 6) for rate in quarter}) == 3


def test_a_single_epoch_has_the_first_rate():
    assert learning_rate("cosine", 0.3, 0.1, 0, 1) == 0.3
