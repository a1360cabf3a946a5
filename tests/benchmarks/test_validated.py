"""The table of validation accuracies: whole rows only, states of structures apart."""

import pytest
from benchmarks.validated import PAGE, last_epochs, rows, seen, table, written

from lfds.results.record import Curve, Outcome
from tests.benchmarks.runs import FOLDS, one
from tests.report.runs import write


def judged(pool, fold, *accuracies):
    record = one(pool, "DD", fold, fair=0.5)
    told = record.outcome.model_dump() | {"curve": Curve(validation=accuracies)}
    return record.model_copy(update={"outcome": Outcome(**told)})


def run(folder, pool, accuracy, folds=FOLDS):
    return write(folder, [judged(pool, fold, 0.0, *[accuracy] * 5) for fold in range(folds)])


def test_the_last_epochs_count():
    assert last_epochs(judged("max", 0, 1.0, 0.1, 0.2, 0.3, 0.4, 0.5)) == pytest.approx(30.0)


def test_half_a_row_has_no_mean(tmp_path):
    assert seen(run(tmp_path / "fair-DD", "max", 0.5)) == {"max": pytest.approx(50.0)}
    assert seen(run(tmp_path / "fair-A", "max", 0.5, folds=2)) == {}


def test_states_differ_in_structures_alone(tmp_path):
    folders = [
        run(tmp_path / pool / f"{state}-DD", pool, accuracy)
        for state, pool, accuracy in (
            ("bare", "loop", 0.4), ("normed-fair", "loop", 0.5), ("fair", "loop", 0.6),
            ("bare", "max+mean", 0.5),
        )
    ]  # fmt: skip
    assert table(rows(folders)).splitlines()[2:] == [
        "| `loop` | as it comes | 60.0 | 60.0 |",
        "| `loop` | of the last layer, as it is, by maxima | 40.0 | 40.0 |",
        "| `loop` | of the last layer, normed, by weights too | 50.0 | 50.0 |",
        "| `max+mean` |  | 50.0 | 50.0 |",
    ]


def test_a_row_without_a_dataset_has_no_mean(tmp_path):
    folders = [
        run(tmp_path / name, pool, 0.5)
        for name, pool in (("fair-A", "max"), ("fair-B", "max"), ("bare-B", "loop"))
    ]
    lines = table(rows(folders)).splitlines()
    assert lines[2:] == [
        "| `loop` | of the last layer, as it is, by maxima | - | 50.0 | - |",
        "| `max` |  | 50.0 | 50.0 | 50.0 |",
    ]


def test_the_page_is_of_the_runs_that_are_published():
    page = PAGE.read_text()
    assert written(page) == page
