from math import isclose

import pytest

from lfds.report.load import arrange
from lfds.report.ranking import make_leaderboard, rules_of
from lfds.report.run_spec import read_sources
from lfds.report.table import markdown
from lfds.results.rules import scores_by
from lfds.results.statistics import compare, holm
from tests.report.runs import make_settings, outcome, record, records, write

SPLITS = {"splits": "0123456789"}


def with_split(pool, other):
    """Return settings with other splits; those from files have no validation fraction."""
    mine = make_settings(pool) | other
    return {n: v for n, v in mine.items() if n != "validation" or "splits" not in mine}


@pytest.fixture
def rank(tmp_path):
    def board(some, rule="fair"):
        return make_leaderboard(rule, arrange(read_sources([write(tmp_path / "run", some)])))

    return board


def test_the_best_and_what_is_not_significantly_worse_are_marked(rank):
    board = rank(records(["max", "image", "loop"], ["A"], seeds=(0, 1)))
    marks = {row: board.entries[row, "A"].mark for row in board.rows}
    best = max(board.rows, key=lambda row: board.entries[row, "A"].summary.mean)
    assert marks[best] == "best"
    # A difference of 20 points on every fold is significant, though folds differ as much.
    assert marks["max"] == "behind"
    assert sorted(marks.values()) == ["behind", "best", "even"]


def test_p_values_are_those_of_the_corrected_test_and_holm(rank):
    some = records(["max", "loop", "image"], ["A"])
    board = rank(some)
    scores = {
        pool: scores_by("fair", [r for r in some if r.fold.pool == pool], folds=5, seeds=[0])
        for pool in board.rows
    }
    best = max(scores, key=lambda pool: scores[pool].mean())
    others = [pool for pool in board.rows if pool != best]
    expected = holm([compare(scores[best], scores[pool], "fair").p for pool in others])
    found = [board.entries[pool, "A"].p for pool in others]
    assert all(isclose(a, b) for a, b in zip(found, expected, strict=True))
    assert board.entries[best, "A"].p is None
    every = holm([p.comparison.p for p in board.pairs["A"]])
    assert [pair.p for pair in board.pairs["A"]] == list(every)
    assert len(every) == 3


@pytest.mark.parametrize("failed", [True, False])
def test_incomplete_row_has_no_mean_no_mark_and_no_pairs(rank, failed):
    some = records(["max", "loop", "image"], ["A"])
    cut = [r for r in some if (r.fold.pool, r.fold.fold) != ("loop", 3)]
    if failed:
        cut.append(record("loop", "A", 3, failed=True))
    board = rank(cut)
    entry = board.entries["loop", "A"]
    assert (entry.summary, entry.scores, entry.mark, entry.p) == (None, None, "", None)
    assert [(pair.first, pair.second) for pair in board.pairs["A"]] == [("max", "image")]
    assert board.entries["image", "A"].mark == "best"


@pytest.mark.parametrize(("folds", "mark"), [(5, "even"), (6, "behind")])
def test_same_difference_on_a_few_folds_is_not_significant(rank, folds, mark):
    def always(pool, accuracy):
        some = records([pool], ["A"], folds=folds)
        return [r.model_copy(update={"outcome": outcome(accuracy, "fair")}) for r in some]

    board = rank([*always("max", 0.6), *always("loop", 0.7)])
    assert board.entries["max", "A"].mark == mark
    assert board.entries["max", "A"].p == 2.0 ** (1 - folds)


def test_equal_means_are_both_best(rank):
    # Other accuracies in another order: sums differ in the last digit, and the folds differ.
    values = {
        "max": (0.1, 0.2, 0.3, 0.4, 0.6),
        "loop": (0.6, 0.4, 0.3, 0.2, 0.1),
        "image": (0,) * 5,
    }
    some = [
        record(pool, "A", fold).model_copy(update={"outcome": outcome(accuracy, "fair")})
        for pool, accuracies in values.items()
        for fold, accuracy in enumerate(accuracies)
    ]
    board = rank(some)
    assert {row: board.entries[row, "A"].mark for row in board.rows} == {
        "max": "best",
        "loop": "best",
        "image": "even",
    }
    assert board.entries["loop", "A"].p is None


def test_single_row_is_not_marked(rank):
    assert rank(records(["max"], ["A"])).entries["max", "A"].mark == ""


def test_rows_on_other_folds_are_not_compared(rank):
    some = [*records(["max"], ["A"]), *records(["loop"], ["A"], folds=4)]
    board = rank(some)
    assert board.pairs["A"] == ()
    assert {entry.mark for entry in board.entries.values()} == {""}
    assert board.rows == ("max (folds 5)", "loop (folds 4)")


@pytest.mark.parametrize(
    ("other", "name"), [(SPLITS, "(splits #012345)"), ({"validation": 0.2}, "0.2")]
)
def test_rows_on_other_folds_are_named_and_compared_among_themselves(rank, other, name):
    given = [
        record(pool, dataset, fold, settings=with_split(pool, other))
        for pool in ("image", "wild")
        for dataset in ("A", "BB")
        for fold in range(5)
    ]
    board = rank([*records(["max", "loop"], ["A", "BB"]), *given])
    assert [name in row for row in board.rows] == [False, False, True, True]
    assert not any("-" in row for row in board.rows)
    pools = [(pair.first.split()[0], pair.second.split()[0]) for pair in board.pairs["A"]]
    assert pools == [("max", "loop"), ("image", "wild")]
    marks = {row.split()[0]: board.entries[row, "A"].mark for row in board.rows}
    assert marks == {"max": "behind", "loop": "best", "image": "best", "wild": "behind"}
    # Both comparisons with a best are of one column, and corrected for as two.
    ps = [e.p for e in board.column("A") if e.p is not None]
    assert ps == list(holm([pair.comparison.p for pair in board.pairs["A"]]))
    assert board.mixed == ("A", "BB")
    assert board.ranking is None
    assert "not all rows were run on the same folds" in markdown(board)
    assert "same folds" not in markdown(rank(records(["max", "loop"], ["A"])))


def test_ranks_are_over_datasets_on_which_all_rows_are_complete(rank):
    some = records(["max", "loop"], ["AAA", "BBBB", "C"])
    board = rank([r for r in some if (r.fold.dataset, r.fold.pool) != ("C", "loop")])
    assert board.ranked == ("AAA", "BBBB")
    assert dict(board.ranking.ranks) == {"loop": 1.0, "max": 2.0}
    assert board.ranking.datasets == 2
    assert rank(records(["max", "loop"], ["A"])).ranking is None


def test_each_rule_has_its_own_numbers_and_its_own_records(rank, tmp_path):
    both = [*records(["max"], ["A"]), *records(["max"], ["A"], protocol="paper")]
    series = arrange(read_sources([write(tmp_path / "two", both)]))
    assert rules_of(series) == ("fair", "last", "common-best", "fold-best")
    means = {
        rule: make_leaderboard(rule, series).entries["max", "A"].summary.mean
        for rule in rules_of(series)
    }
    # The curves end 0.1 below their peaks, which are at epoch 2 in 3 folds and 3 in the others.
    assert isclose(means["fair"], means["fold-best"], abs_tol=1e-6)
    assert isclose(means["last"], means["fold-best"] - 0.1, abs_tol=1e-6)
    assert isclose(means["common-best"], means["fold-best"] - 0.04, abs_tol=1e-6)
