from dataclasses import replace

import torch

from lfds.compare import fold
from lfds.compare.fold import RunDirectory, run_fold
from lfds.data import GraphSet
from lfds.results.record import Failure, Outcome
from tests.compare.small import tasks_for


def test_a_fold_reports_each_epoch_and_returns_an_outcome(tmp_path):
    task = tasks_for(tmp_path)[0]
    steps = []
    end = run_fold(task, RunDirectory(tmp_path / "run"), steps.append)
    assert isinstance(end, Outcome)
    assert [(step.key, step.epochs) for step in steps] == [(task.key, 1), (task.key, 2)]
    assert tuple(step.accuracy for step in steps) == end.curve.validation
    assert torch.get_num_threads() == 1
    assert end.peak_memory is None or end.peak_memory > 0


def test_the_first_fold_of_a_process_on_a_dataset_says_so(tmp_path):
    fold._graphs.cache_clear()
    first, second = tasks_for(tmp_path)
    ends = [
        run_fold(task, RunDirectory(tmp_path / "run"), lambda _: None) for task in (first, second)
    ]
    assert [end.cold_start for end in ends] == [True, False]


def test_a_diverging_fold_is_a_failure_with_reason_and_traceback(tmp_path):
    task = tasks_for(tmp_path, learning_rate=1e30, final_learning_rate=1e30, epochs=5)[0]
    end = run_fold(task, RunDirectory(tmp_path / "run"), lambda _: None)
    assert isinstance(end, Failure)
    assert "Traceback" in end.traceback


def test_a_loss_that_is_nan_is_a_failure_of_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("lfds.nn.GraphNetwork.penalty", lambda _: torch.tensor(float("nan")))
    end = run_fold(tasks_for(tmp_path)[0], RunDirectory(tmp_path / "run"), lambda _: None)
    assert end.reason.startswith("the loss became nan in epoch 1")
    assert "DivergedError" in end.traceback


def test_any_other_error_is_a_failure(tmp_path, monkeypatch):
    def broken(*_):
        raise LookupError("no\nkey")

    monkeypatch.setitem(fold.RUNS, "fair", broken)
    end = run_fold(tasks_for(tmp_path)[0], RunDirectory(tmp_path / "run"), lambda _: None)
    assert end.reason == "LookupError: no key"


def test_a_network_that_cannot_be_allocated_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr("lfds.config.budget.machine_memory", lambda: float("inf"))
    (task, _) = tasks_for(tmp_path, options={"slots": 10**12}, pools=["loop"])
    end = run_fold(task, RunDirectory(tmp_path / "run"), lambda _: None)
    assert end.reason.startswith("memory ran out for a network of loop with width 64")
    assert "SpecError" in end.traceback


def test_a_batch_that_cannot_be_allocated_is_a_failure(tmp_path, monkeypatch):
    monkeypatch.setattr("lfds.nn.GraphNetwork.penalty", lambda _: torch.empty(2**60))
    end = run_fold(tasks_for(tmp_path)[0], RunDirectory(tmp_path / "run"), lambda _: None)
    assert end.reason.endswith("slots 4, batch_size 4; lower one of them")


def test_checkpoints_are_written_when_patience_ends(tmp_path):
    task = tasks_for(tmp_path)[0]
    often = RunDirectory(tmp_path / "often", patience=0)
    written = []
    run_fold(task, often, lambda _: written.append(often.checkpoint(task).exists()))
    assert written == [True, True]
    rarely = RunDirectory(tmp_path / "rarely", patience=1000)
    written.clear()
    run_fold(task, rarely, lambda _: written.append(rarely.checkpoint(task).exists()))
    assert written == [False, False]
    assert rarely.checkpoint(task).exists()  # the last epoch is kept until the record is safe


def test_graphs_that_were_changed_on_disk_are_a_failure(tmp_path):
    task = tasks_for(tmp_path)[0]
    graphs = GraphSet.load(task.data, mmap=False)
    replace(graphs, y=1 - graphs.y).save(task.data)
    end = run_fold(task, RunDirectory(tmp_path / "run"), lambda _: None)
    assert isinstance(end, Failure)
    assert "does not hold the graphs that it is named after" in end.reason
