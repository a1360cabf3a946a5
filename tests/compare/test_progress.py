import io

import pytest
from rich.console import Console
from rich.progress import Progress

from lfds.compare import progress
from lfds.compare.fold import Step
from lfds.compare.progress import (
    ProgressBars,
    ProgressLines,
    progress_display,
    result_of,
    resume_notes,
)
from tests.compare.small import tasks_for
from tests.results.records import failed_record, fair_record, paper_record


def test_without_a_terminal_there_is_a_line_for_each_fold(tmp_path, capsys):
    with progress_display() as observer:
        assert isinstance(observer, ProgressLines)
        tasks = tasks_for(tmp_path)
        observer.begin(tasks, [], 0)
        observer.step(tasks[0], Step(tasks[0].key, 1, 0.5))
        observer.end(tasks[0], fair_record(0.625))
    shown = capsys.readouterr()
    assert shown.err == "1/2 rings max seed 0 fold 1/2: fair 62.5 % (epoch 1)\n"
    assert shown.out == ""


def test_on_a_terminal_there_are_bars_with_accuracy(tmp_path):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120, highlight=False)
    tasks = tasks_for(tmp_path)
    with Progress(console=console) as bars:
        observer = ProgressBars(bars)
        observer.begin(tasks, [failed_record().model_copy(update={"key": tasks[1].key})], 12)
        observer.step(tasks[0], Step(tasks[0].key, 1, 0.5))
        (total, one) = bars.tasks
        assert (one.completed, one.total, one.fields["note"]) == (1, 2, "validation 50.0 %")
        assert one.fields["counted"] == "1/2 epochs"
        assert (total.completed, total.total) == (3, 4)
        assert total.fields["counted"] == "1/2 folds, 3/4 epochs"
        observer.end(tasks[0], fair_record(0.625))
        assert bars.tasks[0].completed == 4
        assert bars.tasks[0].fields["counted"] == "2/2 folds, 4/4 epochs"
        observer.end(tasks[1], fair_record(0.625))  # run again with --retry
        assert bars.tasks[0].fields["counted"] == "2/2 folds, 4/4 epochs"
        assert len(bars.tasks) == 1
    assert "fair 62.5 %" in screen.getvalue()
    assert "12 bytes" in screen.getvalue()


def test_a_terminal_gets_bars(monkeypatch):
    monkeypatch.setattr(
        progress, "Console", lambda **_: Console(file=io.StringIO(), force_terminal=True)
    )
    with progress_display() as observer:
        assert isinstance(observer, ProgressBars)


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (fair_record(0.5), "fair 50.0 % (epoch 1)"),
        (paper_record([0.75, 0.5]), "last 50.0 %, fold-best 75.0 %"),
        (failed_record(), "failed: the loss became nan"),
    ],
)
def test_every_number_has_the_name_of_its_rule(record, text):
    assert result_of(record) == text


def test_a_resumed_run_starts_with_what_is_stored_and_what_was_damaged():
    assert resume_notes(4, [], 0) == []
    torn, stored = resume_notes(4, [fair_record(0.5), failed_record(1)], 7)
    assert "7 bytes are moved to records.torn" in torn
    assert (
        stored == "2 of 4 folds are already stored, 1 of them failed (run them again with --retry)"
    )


def test_stored_folds_of_another_backend_are_named():
    versions = {"backend": "torch 1.0 cpu AVX"}
    other = fair_record(0.5).model_copy(update={"versions": versions})
    _, note = resume_notes(4, [other, failed_record(1)], 0)
    assert note.startswith("1 of them were computed by torch 1.0 cpu AVX, and this is torch ")
    assert note.endswith("choose another --out")
