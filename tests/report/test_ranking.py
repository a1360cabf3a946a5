from math import isclose

import pytest

from lfds.report.layout import lay_out
from lfds.report.load import read_sources
from lfds.report.ranking import rules_of, standing_by
from lfds.report.text_tables import markdown
from lfds.results.rules import scores_by
from lfds.results.statistics import compare, holm
from tests.report.runs import outcome, record, records, settings, write

SPLITS = {"splits": "0123456789"}


def told(pool, other):
    """Either folds are from files, or there is a share for validation."""
    mine = settings(pool) | other
    return {n: v for n, v in mine.items() if n != "validation" or "splits" not in mine}


@pytest.fixture
def stand(tmp_path):
    def standing(some, rule="fair"):
        return standing_by(rule, lay_out(read_sources([write(tmp_path / "run", some)])))

    return standing


def test_the_best_and_what_is_not_significantly_worse_are_marked(stand):
    standing = stand(records(["max", "image", "loop"], ["A"], seeds=(0, 1)))
    marks = {row: standing.entries[row, "A"].mark for row in standing.rows}
    best = max(standing.rows, key=lambda row: standing.entries[row, "A"].summary.mean)
    assert marks[best] == "best"
    # 20 points behind on every fold is behind; folds that differ by as much do not hide it.
    assert marks["max"] == "behind"
    assert sorted(marks.values()) == ["behind", "best", "even"]


def test_p_values_are_those_of_the_corrected_test_and_holm(stand):
    some = records(["max", "loop", "image"], ["A"])
    standing = stand(some)
    scores = {
        pool: scores_by("fair", [r for r in some if r.fold.pool == pool], folds=5, seeds=[0])
        for pool in standing.rows
    }
    best = max(scores, key=lambda pool: scores[pool].mean())
    others = [pool for pool in standing.rows if pool != best]
    expected = holm([compare(scores[best], scores[pool], "fair").p for pool in others])
    found = [standing.entries[pool, "A"].p for pool in others]
    assert all(isclose(a, b) for a, b in zip(found, expected, strict=True))
    assert standing.entries[best, "A"].p is None
    every = holm([p.outcome.p for p in standing.pairs["A"]])
    assert [pair.p for pair in standing.pairs["A"]] == list(every)
    assert len(every) == 3


@pytest.mark.parametrize("failed", [True, False])
def test_half_a_run_has_no_mean_no_mark_and_no_pairs(stand, failed):
    some = records(["max", "loop", "image"], ["A"])
    cut = [r for r in some if (r.fold.pool, r.fold.fold) != ("loop", 3)]
    if failed:
        cut.append(record("loop", "A", 3, failed=True))
    standing = stand(cut)
    entry = standing.entries["loop", "A"]
    assert (entry.summary, entry.scores, entry.mark, entry.p) == (None, None, "", None)
    assert [(pair.first, pair.second) for pair in standing.pairs["A"]] == [("max", "image")]
    assert standing.entries["image", "A"].mark == "best"


@pytest.mark.parametrize(("folds", "mark"), [(5, "even"), (6, "behind")])
def test_being_ahead_by_the_same_on_a_few_folds_is_not_significant(stand, folds, mark):
    def always(pool, accuracy):
        some = records([pool], ["A"], folds=folds)
        return [r.model_copy(update={"outcome": outcome(accuracy, "fair")}) for r in some]

    standing = stand([*always("max", 0.6), *always("loop", 0.7)])
    assert standing.entries["max", "A"].mark == mark
    assert standing.entries["max", "A"].p == 2.0 ** (1 - folds)


def test_equal_means_are_both_best(stand):
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
    standing = stand(some)
    assert {row: standing.entries[row, "A"].mark for row in standing.rows} == {
        "max": "best",
        "loop": "best",
        "image": "even",
    }
    assert standing.entries["loop", "A"].p is None


def test_alone_nobody_is_best(stand):
    assert stand(records(["max"], ["A"])).entries["max", "A"].mark == ""


def test_other_folds_are_not_compared(stand):
    some = [*records(["max"], ["A"]), *records(["loop"], ["A"], folds=4)]
    standing = stand(some)
    assert standing.pairs["A"] == ()
    assert {entry.mark for entry in standing.entries.values()} == {""}
    assert standing.rows == ("max (folds 5)", "loop (folds 4)")


@pytest.mark.parametrize(
    ("other", "said"), [(SPLITS, "(splits #012345)"), ({"validation": 0.2}, "0.2")]
)
def test_rows_on_other_folds_are_named_and_compared_among_themselves(stand, other, said):
    given = [
        record(pool, dataset, fold, told=told(pool, other))
        for pool in ("image", "wild")
        for dataset in ("A", "BB")
        for fold in range(5)
    ]
    standing = stand([*records(["max", "loop"], ["A", "BB"]), *given])
    assert [said in row for row in standing.rows] == [False, False, True, True]
    assert not any("-" in row for row in standing.rows)
    pools = [(pair.first.split()[0], pair.second.split()[0]) for pair in standing.pairs["A"]]
    assert pools == [("max", "loop"), ("image", "wild")]
    marks = {row.split()[0]: standing.entries[row, "A"].mark for row in standing.rows}
    assert marks == {"max": "behind", "loop": "best", "image": "best", "wild": "behind"}
    # Both comparisons with a best are of one column, and corrected for as two.
    ps = [e.p for e in standing.column("A") if e.p is not None]
    assert ps == list(holm([pair.outcome.p for pair in standing.pairs["A"]]))
    assert standing.mixed == ("A", "BB")
    assert standing.ranking is None
    assert "not all rows were run on the same folds" in markdown(standing)
    assert "same folds" not in markdown(stand(records(["max", "loop"], ["A"])))


def test_ranks_are_over_the_datasets_on_which_all_are_complete(stand):
    some = records(["max", "loop"], ["AAA", "BBBB", "C"])
    standing = stand([r for r in some if (r.fold.dataset, r.fold.pool) != ("C", "loop")])
    assert standing.ranked == ("AAA", "BBBB")
    assert dict(standing.ranking.ranks) == {"loop": 1.0, "max": 2.0}
    assert standing.ranking.datasets == 2
    assert stand(records(["max", "loop"], ["A"])).ranking is None


def test_each_rule_has_its_own_numbers_and_its_own_records(stand, tmp_path):
    both = [*records(["max"], ["A"]), *records(["max"], ["A"], protocol="paper")]
    series = lay_out(read_sources([write(tmp_path / "two", both)]))
    assert rules_of(series) == ("fair", "last", "common-best", "fold-best")
    means = {
        rule: standing_by(rule, series).entries["max", "A"].summary.mean
        for rule in rules_of(series)
    }
    # The curves end 0.1 below their peaks, which are at epoch 2 in 3 folds and 3 in the others.
    assert isclose(means["fair"], means["fold-best"], abs_tol=1e-6)
    assert isclose(means["last"], means["fold-best"] - 0.1, abs_tol=1e-6)
    assert isclose(means["common-best"], means["fold-best"] - 0.04, abs_tol=1e-6)
