import numpy as np
import pytest
from scipy import stats

from lfds.results.ranks import critical_difference, rank
from lfds.results.record import IncompleteRunError

MEANS = {
    "bad": {"A": 0.1, "B": 0.2, "C": 0.3},
    "good": {"A": 0.9, "B": 0.8, "C": 0.7},
    "even": {"A": 0.9, "B": 0.5, "C": 0.5},
}


def test_best_is_first_and_ties_share_their_ranks():
    ranking = rank(MEANS, "fair")
    # 1 for the highest accuracy, whatever the order of the arguments.
    assert list(ranking.ranks) == ["good", "even", "bad"]
    assert list(ranking.ranks.values()) == pytest.approx([3.5 / 3, 5.5 / 3, 3.0])
    assert (ranking.rule, ranking.datasets) == ("fair", 3)


def test_ranks_do_not_depend_on_the_order_of_columns():
    turned = {pool: dict(reversed(row.items())) for pool, row in MEANS.items()}
    assert rank(turned, "fair") == rank(MEANS, "fair")


@pytest.mark.parametrize(
    ("pools", "q"),
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)],
)
def test_the_critical_difference_is_the_published_one(pools, q):
    expected = q * np.sqrt(pools * (pools + 1) / (6 * 30))
    assert critical_difference(pools, 30) == pytest.approx(expected, abs=1e-3)


def test_friedman_agrees_with_scipy_ties_and_all():
    columns = [[row[dataset] for dataset in "ABC"] for row in MEANS.values()]
    assert rank(MEANS, "fair").friedman_p == pytest.approx(stats.friedmanchisquare(*columns).pvalue)


def test_poolings_that_tie_everywhere_are_one_group():
    same = {pool: {"A": 0.5, "B": 0.5} for pool in ("one", "two", "three")}
    ranking = rank(same, "fair")
    assert ranking.friedman_p == 1.0
    assert ranking.groups == (("one", "two", "three"),)


def test_groups_are_poolings_without_a_significant_difference():
    datasets = [f"D{number}" for number in range(40)]
    means = {
        pool: dict.fromkeys(datasets, value)
        for pool, value in {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6}.items()
    }
    assert rank(means, "fair").groups == ()
    few = {pool: {name: row[name] for name in datasets[:12]} for pool, row in means.items()}
    # CD = 1.35: neighbours do not differ, poolings two ranks apart do.
    assert rank(few, "fair").groups == (("a", "b"), ("b", "c"), ("c", "d"))


def test_incomplete_table_has_no_ranks():
    with pytest.raises(IncompleteRunError, match="every dataset; one"):
        rank({"two": {"A": 1.0, "B": 0.5}, "one": {"A": 1.0}}, "fair")
    with pytest.raises(IncompleteRunError, match="not 1 on 2"):
        rank({"one": {"A": 1.0, "B": 0.5}}, "fair")
    with pytest.raises(IncompleteRunError, match="not 0 on 0"):
        rank({}, "fair")
