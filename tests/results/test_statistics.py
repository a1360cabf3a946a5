from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lfds.results.record import IncompleteRunError
from lfds.results.statistics import compare, holm, summarise

FIRST = np.array([[0.8, 0.7, 0.9, 0.6], [0.7, 0.8, 0.8, 0.7]])
SECOND = np.array([[0.7, 0.7, 0.7, 0.5], [0.7, 0.6, 0.8, 0.6]])


def test_mean_and_standard_deviation_are_over_all_folds():
    summary = summarise(FIRST, "fair")
    values = FIRST.ravel().tolist()
    mean = sum(values) / 8
    assert summary.mean == pytest.approx(mean)
    # Divided by one less than the number of folds, not by 8.
    assert summary.std == pytest.approx(sqrt(sum((v - mean) ** 2 for v in values) / 7))
    assert (summary.rule, summary.folds, summary.seeds) == ("fair", 4, 2)


def test_the_interval_is_corrected_for_overlapping_training_sets():
    summary = summarise(FIRST, "last")
    naive = stats.t.interval(0.95, 7, summary.mean, stats.sem(FIRST.ravel()))
    corrected = (summary.high - summary.low) / (naive[1] - naive[0])
    # (1/8 + 1/3) / (1/8): eight accuracies, a test part a third as large as its training part.
    assert corrected == pytest.approx(sqrt((1 / 8 + 1 / 3) * 8))
    assert summary.high - summary.mean == pytest.approx(summary.mean - summary.low)


def test_interval_is_clipped_to_possible_accuracies():
    high = summarise(np.array([[1.0, 0.5, 1.0]]), "fair")
    low = summarise(np.array([[0.0, 0.5, 0.0]]), "fair")
    # Only the end beyond the limit is moved.
    assert (high.low, high.high) == (0.0, 1.0)
    near = summarise(np.array([[1.0, 0.98, 1.0]]), "fair")
    assert near.high == 1.0
    assert 0.9 < near.low < near.mean
    assert (low.low, low.high) == (0.0, 1.0)
    # A difference may be below 0.
    assert compare(1 - FIRST, FIRST, "fair").low < 0


def test_interval_does_not_vanish_with_more_seeds():
    many = np.tile(FIRST, (500, 1))
    assert summarise(many, "fair").high - summarise(many, "fair").mean > 0.09


def test_paired_comparison_is_that_of_nadeau_and_bengio():
    found = compare(FIRST, SECOND, "fair")
    differences = (FIRST - SECOND).ravel()
    variance = differences.var(ddof=1)
    t = differences.mean() / sqrt((1 / 8 + 1 / 3) * variance)
    assert found.t == pytest.approx(t)
    assert found.p == pytest.approx(2 * (1 - stats.t.cdf(t, 7)))
    # Neither the uncorrected paired test, nor the unpaired one.
    assert found.p > 2 * stats.ttest_rel(FIRST.ravel(), SECOND.ravel()).pvalue
    assert found.p != pytest.approx(stats.ttest_ind(FIRST.ravel(), SECOND.ravel()).pvalue)
    assert found.low < found.difference < found.high


@given(st.integers(0, 2**31))
def test_order_of_arguments_changes_only_the_sign(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, 3, 5))
    one, other = compare(first, second, "fair"), compare(second, first, "fair")
    assert one.p == pytest.approx(other.p)
    assert one.t == pytest.approx(-other.t)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_no_difference_and_constant_difference():
    same = compare(FIRST, FIRST, "fair")
    assert (same.t, same.p, same.difference) == (0.0, 1.0, 0.0)
    # Rounding leaves a spread of 1e-17 in these differences, which is to be ignored.
    constant = compare(FIRST, FIRST - 0.1, "fair")
    assert constant.t == inf
    assert compare(FIRST - 0.1, FIRST, "fair").t == -inf


@pytest.mark.parametrize(("folds", "seeds"), [(2, 1), (5, 1), (10, 1), (10, 3)])
@pytest.mark.parametrize("ahead", [0.1, -0.1])
def test_constant_difference_has_the_p_value_of_the_sign_test(folds, seeds, ahead):
    scores = np.linspace(0.4, 0.6, folds * seeds).reshape(seeds, folds)
    found = compare(scores, scores + ahead, "fair")
    # Not 0, which an infinite t would give.
    assert found.p == pytest.approx(stats.binomtest(folds, folds).pvalue)
    assert holm([found.p, found.p]) == pytest.approx((min(1.0, 2 * found.p),) * 2)


def test_single_fold_unequal_folds_and_nan_are_refused():
    with pytest.raises(IncompleteRunError, match="at least 2"):
        summarise(np.array([[0.5]]), "fair")
    with pytest.raises(IncompleteRunError, match="the same folds"):
        compare(FIRST, SECOND[:1], "fair")
    with pytest.raises(IncompleteRunError, match="not a number"):
        summarise(np.array([[0.5, np.nan]]), "fair")


def test_holm_is_between_raw_p_values_and_bonferroni():
    raw = [0.04, 0.01, 0.9, 0.02]
    assert holm(raw) == pytest.approx((0.08, 0.04, 0.9, 0.06))
    assert all(p <= c <= min(1.0, 4 * p) for p, c in zip(raw, holm(raw), strict=True))
