import io

import pytest
from rich.console import Console
from rich.progress import Progress

from lfds.compare import progress
from lfds.compare.fold import Step
from lfds.compare.progress import Bars, Lines, greeting, result_of, watching
from tests.compare.small import tasks_for
from tests.results.records import failed_record, fair_record, paper_record


def test_elsewhere_than_on_a_terminal_there_is_a_line_for_each_fold(tmp_path, capsys):
    with watching() as watcher:
        assert isinstance(watcher, Lines)
        tasks = tasks_for(tmp_path)
        watcher.begin(tasks, [], 0)
        watcher.step(tasks[0], Step(tasks[0].key, 1, 0.5))
        watcher.end(tasks[0], fair_record(0.625))
    shown = capsys.readouterr()
    assert shown.err == "1/2 rings max seed 0 fold 1/2: fair 62.5 % (epoch 1)\n"
    assert shown.out == ""


def test_on_a_terminal_there_are_bars_with_accuracy(tmp_path):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120, highlight=False)
    tasks = tasks_for(tmp_path)
    with Progress(console=console) as bars:
        watcher = Bars(bars)
        watcher.begin(tasks, [failed_record().model_copy(update={"key": tasks[1].key})], 12)
        watcher.step(tasks[0], Step(tasks[0].key, 1, 0.5))
        (whole, one) = bars.tasks
        assert (one.completed, one.total, one.fields["note"]) == (1, 2, "validation 50.0 %")
        assert (whole.completed, whole.total) == (1, 2)
        watcher.end(tasks[0], fair_record(0.625))
        assert bars.tasks[0].completed == 2
        assert len(bars.tasks) == 1
    assert "fair 62.5 %" in screen.getvalue()
    assert "12 bytes" in screen.getvalue()


def test_a_terminal_is_recognised(monkeypatch):
    monkeypatch.setattr(
        progress, "Console", lambda **_: Console(file=io.StringIO(), force_terminal=True)
    )
    with watching() as watcher:
        assert isinstance(watcher, Bars)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (fair_record(0.5), "fair 50.0 % (epoch 1)"),
        (paper_record([0.75, 0.5]), "last 50.0 %, fold-best 75.0 %"),
        (failed_record(), "failed: the loss became nan"),
    ],
)
def test_every_number_has_the_name_of_its_rule(record, said):
    assert result_of(record) == said


def test_the_greeting_says_what_is_there_and_what_was_torn():
    assert greeting(4, [], 0) == []
    torn, there = greeting(4, [fair_record(0.5), failed_record(1)], 7)
    assert "7 bytes are set aside" in torn
    assert there == "2 of 4 folds are there already, 1 of them failed (run them again with --retry)"
