import pytest

from lfds.report.formatting import (
    MINUS,
    cell_text,
    interval,
    places_of,
    points,
    seen_scores,
    spoken,
)  # fmt: skip
from lfds.report.report import make_report
from lfds.results.statistics import Summary
from tests.report.runs import accuracy_of, record, records, write


def entry(tmp_path, some, rule):
    made = make_report([write(tmp_path / "run", some)])
    return next(iter(made.by(rule).entries.values()))


def test_a_cell_says_how_far_it_has_come(tmp_path):
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
def test_half_a_run_shows_the_folds_that_speak_for_themselves(tmp_path, rule, short):
    some = records(["max"], ["A"], protocol="paper")[:2]
    seen = seen_scores(entry(tmp_path, some, rule), rule)
    whole = [accuracy_of("max", "A", fold, 0) for fold in range(2)]
    expected = [] if short is None else [accuracy - short for accuracy in whole]
    assert seen == pytest.approx(expected, abs=1e-6)


def test_half_a_fair_run_shows_its_test_accuracies(tmp_path):
    seen = seen_scores(entry(tmp_path, records(["max"], ["A"])[:2], "fair"), "fair")
    assert seen == [accuracy_of("max", "A", fold, 0) for fold in range(2)]


def test_an_interval_is_in_percent():
    wide = Summary("fair", 0.5, 0.5, 0.25, 0.75, 5, 1)
    assert interval(wide) == (50.0, 25.0, 75.0)


def test_signs_are_those_of_print():
    assert points(-0.0312) == f"{MINUS}3.1"


def test_places_are_by_seed():
    some = records(["max"], ["A"], folds=2, seeds=(0, 3))
    assert places_of(some) == {0: [0, 1], 3: [0, 1]}


def test_a_column_in_words_names_the_best(tmp_path):
    made = make_report([write(tmp_path / "run", records(datasets=["A"]))])
    said = spoken(made.by("fair"), "A")
    assert said.count(", the best") == 1
    assert said.count("not significantly worse") == 1
    assert said.startswith("max ")
