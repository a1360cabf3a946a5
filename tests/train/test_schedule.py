import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.train.schedule import learning_rate

SCHEDULES = ["exponential", "cosine", "linear"]


@pytest.mark.parametrize("decay", SCHEDULES)
@given(epochs=st.integers(2, 200))
def test_the_rate_falls_strictly_from_start_to_end(decay, epochs):
    rates = [learning_rate(decay, 0.005, 0.0001, epoch, epochs) for epoch in range(epochs)]
    assert rates[0] == pytest.approx(0.005)
    # Not one epoch later: the last epoch itself has the final rate.
    assert rates[-1] == pytest.approx(0.0001)
    assert all(before > after for before, after in itertools.pairwise(rates))


def test_schedules_differ_between_start_and_end():
    half = [learning_rate(decay, 1.0, 0.01, 1, 3) for decay in SCHEDULES]
    assert half == pytest.approx([0.1, 0.505, 0.505])
    quarter = [learning_rate(decay, 1.0, 0.01, 1, 5) for decay in SCHEDULES]
    assert len({round(rate, 6) for rate in quarter}) == 3


def test_a_single_epoch_has_the_start_rate():
    assert learning_rate("cosine", 0.3, 0.1, 0, 1) == 0.3
