import torch

from lfds.compare import fold
from lfds.compare.fold import RunDirectory, run_fold
from lfds.results.record import Failure, Outcome
from tests.compare.small import tasks_for


def test_a_fold_tells_each_epoch_and_ends_in_an_outcome(tmp_path):
    task = tasks_for(tmp_path)[0]
    told = []
    end = run_fold(task, RunDirectory(tmp_path / "run"), told.append)
    assert isinstance(end, Outcome)
    assert [(step.key, step.epochs) for step in told] == [(task.key, 1), (task.key, 2)]
    assert tuple(step.accuracy for step in told) == end.curve.validation
    assert torch.get_num_threads() == 1
    assert end.peak_memory is None or end.peak_memory > 0


def test_a_diverging_fold_is_a_failure_with_reason_and_traceback(tmp_path):
    task = tasks_for(tmp_path, learning_rate=1e30, final_learning_rate=1e30, epochs=5)[0]
    end = run_fold(task, RunDirectory(tmp_path / "run"), lambda _: None)
    assert isinstance(end, Failure)
    assert "Traceback" in end.traceback


def test_a_loss_that_is_no_number_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("lfds.nn.GraphNetwork.penalty", lambda _: torch.tensor(float("nan")))
    end = run_fold(tasks_for(tmp_path)[0], RunDirectory(tmp_path / "run"), lambda _: None)
    assert end.reason.startswith("the loss became nan in epoch 1")
    assert "DivergedError" in end.traceback


def test_whatever_else_breaks_is_a_failure_too(tmp_path, monkeypatch):
    def broken(*_):
        raise LookupError("no\nkey")

    monkeypatch.setitem(fold.RUNS, "fair", broken)
    end = run_fold(tasks_for(tmp_path)[0], RunDirectory(tmp_path / "run"), lambda _: None)
    assert end.reason == "LookupError: no key"


def test_a_fold_without_room_for_its_network_is_said_in_our_words(tmp_path, monkeypatch):
    monkeypatch.setattr("lfds.train.memory_limit.machine_memory", lambda: float("inf"))
    told = {"options": {"slots": 10**12}, "pools": ["loop"]}
    end = run_fold(tasks_for(tmp_path, **told)[0], RunDirectory(tmp_path / "run"), lambda _: None)
    assert end.reason.startswith("memory ran out for a network of loop with width 64")
    assert "SpecError" in end.traceback


def test_a_fold_whose_batches_have_no_room_is_said_in_our_words(tmp_path, monkeypatch):
    monkeypatch.setattr("lfds.nn.GraphNetwork.penalty", lambda _: torch.empty(2**60))
    end = run_fold(tasks_for(tmp_path)[0], RunDirectory(tmp_path / "run"), lambda _: None)
    assert end.reason.endswith("slots 4, batch_size 4; lower one of them")


def test_checkpoints_are_written_when_patience_ends(tmp_path):
    task = tasks_for(tmp_path)[0]
    place = RunDirectory(tmp_path / "run", patience=0)
    there = []
    run_fold(task, place, lambda _: there.append(place.checkpoint(task).exists()))
    assert there == [True, True]
    eager = RunDirectory(tmp_path / "other", patience=1000)
    there.clear()
    run_fold(task, eager, lambda _: there.append(eager.checkpoint(task).exists()))
    assert there == [False, False]
    assert eager.checkpoint(task).exists()  # the end is kept until its record is safe
