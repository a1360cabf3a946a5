import pytest

from lfds.report.formatting import (
    MINUS,
    cell_text,
    describe_column,
    fold_scores,
    interval,
    places_of,
    points,
)  # fmt: skip
from lfds.report.load import make_report
from lfds.results.statistics import Summary
from tests.report.runs import accuracy_of, record, records, write


def entry(tmp_path, some, rule):
    made = make_report([write(tmp_path / "run", some)])
    return next(iter(made.by(rule).entries.values()))


def test_cell_of_an_incomplete_row_has_its_progress(tmp_path):
    some = records(["max"], ["A"])
    assert "±" in cell_text(entry(tmp_path, some, "fair"))
    assert cell_text(entry(tmp_path, [some[0], some[4]], "fair")) == "2 of 5 folds"
    broken = [*some[:3], record("max", "A", 4, failed=True)]
    assert cell_text(entry(tmp_path, broken, "fair")) == "1 of 5 folds failed"
    one = [record("max", "A", 0, folds=1)]
    assert cell_text(entry(tmp_path, one, "fair")) == "no mean"


@pytest.mark.parametrize(
    ("rule", "short"), [("last", 0.1), ("fold-best", 0.0), ("common-best", None)]
)
def test_scores_of_an_incomplete_run_are_those_that_need_no_other_fold(tmp_path, rule, short):
    some = records(["max"], ["A"], protocol="paper")[:2]
    scores = fold_scores(entry(tmp_path, some, rule), rule)
    complete = [accuracy_of("max", "A", fold, 0) for fold in range(2)]
    expected = [] if short is None else [accuracy - short for accuracy in complete]
    assert scores == pytest.approx(expected, abs=1e-6)


def test_scores_of_an_incomplete_fair_run_are_its_test_accuracies(tmp_path):
    scores = fold_scores(entry(tmp_path, records(["max"], ["A"])[:2], "fair"), "fair")
    assert scores == [accuracy_of("max", "A", fold, 0) for fold in range(2)]


def test_interval_is_in_percent():
    wide = Summary("fair", 0.5, 0.5, 0.25, 0.75, 5, 1)
    assert interval(wide) == (50.0, 25.0, 75.0)


def test_points_have_a_minus_sign():
    assert points(-0.0312) == f"{MINUS}3.1"


def test_folds_are_grouped_by_seed():
    some = records(["max"], ["A"], folds=2, seeds=(0, 3))
    assert places_of(some) == {0: [0, 1], 3: [0, 1]}


def test_description_of_a_column_names_the_best(tmp_path):
    made = make_report([write(tmp_path / "run", records(datasets=["A"]))])
    text = describe_column(made.by("fair"), "A")
    assert text.count(", the best") == 1
    assert text.count("not significantly worse") == 1
    assert text.startswith("max ")
