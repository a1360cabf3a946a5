"""Fits in a shared folder: resumed, locked, cleaned up; and what users may get wrong."""

import fcntl
import os
import shutil

import pytest
import torch

from lfds.config.messages import SpecError
from lfds.config.training import TrainingSettings
from lfds.data.atomic_io import atomic_write
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.data.shards.writer import ShardWriter
from lfds.processes import Died
from lfds.train import DivergedError, distributed
from lfds.train.distributed import (
    MAX_RESTARTS,
    check_devices,
    fit_folder,
    remove_fits,
    run_rank,
    shared_fit,
    train_in_processes,
    train_together,
)
from lfds.train.loop import Progress
from lfds.train.objective import Classify
from lfds.train.ranks import OneRank
from tests.train.small import SETTINGS, finished, make


def prepared(
    folder,
    ranks=1,
    settings=SETTINGS,
    objective=None,
    patience=None,
    seed=0,
    train=None,
    sync_batch_norm=None,
):
    """Return the fit of :func:`tests.train.small.make` in a folder."""
    training = make()
    return shared_fit(
        folder,
        training.model,
        training._train if train is None else train,
        training._validation,
        settings,
        seed,
        ("test",),
        objective=Classify() if objective is None else objective,
        patience=patience,
        ranks=ranks,
        sync_batch_norm=sync_batch_norm,
    )


def assert_same(result, training):
    weights, progress = result
    assert weights.keys() == training.best.keys()
    for name, value in training.best.items():
        assert torch.equal(weights[name], value)
    assert progress.loss == training.progress.loss
    assert progress.validation_loss == training.progress.validation_loss


def test_one_rank_has_the_bits_of_a_training_alone_and_leaves_nothing(tmp_path):
    seen = []
    result = train_together(prepared(tmp_path), lambda now: seen.append(now.epochs))
    assert_same(result, finished())
    assert seen == [1, 2, 3]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("ranks", "given", "expected"),
    [(2, None, False), (3, None, True), (2, True, True), (3, False, False)],
)
def test_norms_are_synchronized_where_a_process_has_few_graphs(tmp_path, ranks, given, expected):
    settings = SETTINGS.model_copy(update={"batch_size": 40})  # all graphs
    fit = prepared(tmp_path, ranks, settings, sync_batch_norm=given)
    assert fit.sync_batch_norm is expected
    # Another choice is another fit, which does not go on from the checkpoints of this one.
    other = prepared(tmp_path, ranks, settings, sync_batch_norm=not expected)
    assert other.key != fit.key


class StopNowError(Exception):
    pass


def stop_after(epochs):
    def on_epoch(progress):
        if progress.epochs == epochs:
            raise StopNowError

    return on_epoch


def at_once(fit):
    """Return the same fit with a checkpoint after every epoch."""
    return distributed.SharedFit(**{**vars(fit), "interval": 0.0})


def test_an_interrupted_fit_goes_on_from_its_last_checkpoint_to_the_same_bits(tmp_path):
    with pytest.raises(StopNowError):
        train_together(at_once(prepared(tmp_path)), stop_after(2))
    seen = []
    again = prepared(tmp_path)
    assert_same(train_together(again, lambda now: seen.append(now.epochs)), finished())
    assert seen == [3]
    assert list(tmp_path.iterdir()) == []


def test_a_fit_that_was_done_is_not_done_again(tmp_path):
    fit = prepared(tmp_path)
    run_rank(fit, lambda _: OneRank(), lambda _: None)
    assert_same(train_together(fit, stop_after(1)), finished())


def test_a_damaged_result_is_no_result(tmp_path):
    fit = prepared(tmp_path)
    run_rank(fit, lambda _: OneRank(), lambda _: None)
    file = fit.folder / "result.safetensors"
    file.write_bytes(file.read_bytes()[:-9])
    assert fit.result() is None
    assert_same(train_together(fit, lambda _: None), finished())


def test_fits_are_told_apart_by_everything_that_decides_the_result(tmp_path):
    changed = [
        {},
        {"ranks": 2},
        {"settings": TrainingSettings(epochs=4, batch_size=4)},
        {"objective": Classify(torch.tensor([1.0, 2.0]))},
        {"objective": Classify(torch.tensor([1.0, 3.0]))},
        {"patience": 1},
        {"seed": 1},
    ]
    keys = {prepared(tmp_path, **one).key for one in changed}
    assert len(keys) == len(changed)
    assert {entry.name for entry in tmp_path.iterdir()} == keys
    assert prepared(tmp_path).key in keys


def test_a_set_in_parts_on_disk_is_trained_on_in_parts(tmp_path, monkeypatch):
    """Its graphs are copied piece by piece, and the bits are those of the set in memory."""
    training = make()
    with ShardWriter(tmp_path / "set", graphs_per_part=15) as writer:
        writer.add(training._train)
    monkeypatch.setattr("lfds.data.shards.sharded_set._NODES_OF_A_PIECE", 60)
    graphs = GraphSet.load(tmp_path / "set").with_targets(training._train.y)
    fit = prepared(tmp_path / "fit", train=graphs)
    assert isinstance(GraphSet.load(fit.folder / "train"), ShardedGraphSet)
    assert_same(train_together(fit, lambda _: None), finished())


def test_a_fit_is_not_run_twice_at_a_time(tmp_path):
    fit = prepared(tmp_path)
    holder = os.open(fit.folder, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    try:
        with pytest.raises(DataError, match="another process is fitting the same model here"):
            train_together(fit, lambda _: None)
    finally:
        os.close(holder)
    assert_same(train_together(fit, lambda _: None), finished())


def test_a_fit_that_diverged_is_not_kept(tmp_path):
    high = SETTINGS.model_copy(update={"learning_rate": 1e30})
    with pytest.raises(DivergedError):
        train_together(prepared(tmp_path, settings=high), lambda _: None)
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_folder_is_removed_and_a_given_one_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    with fit_folder(None) as folder:
        (folder / "file").touch()
    with fit_folder(tmp_path / "given") as folder:
        assert folder == tmp_path / "given"
    assert list((tmp_path / "tmp").iterdir()) == []


def test_only_fits_are_removed_from_a_folder(tmp_path):
    folder = tmp_path / "model.unfinished"
    prepared(folder)
    (folder / "mine.txt").touch()
    remove_fits(folder)
    assert [entry.name for entry in folder.iterdir()] == ["mine.txt"]
    (folder / "mine.txt").unlink()
    remove_fits(folder)
    assert not folder.exists()
    remove_fits(folder)


def test_more_processes_than_graphs_of_a_batch_are_refused(tmp_path):
    with pytest.raises(SpecError) as error:
        prepared(tmp_path, ranks=5)
    assert str(error.value) == (
        "workers: each of 5 processes needs a graph of every batch, and the smallest batch of 40 "
        "training graphs has 4; use workers=4, or larger batches"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_does_not_see_the_folder_says_so(tmp_path):
    fit = prepared(tmp_path)
    shutil.rmtree(fit.folder / "train")
    with pytest.raises(DataError, match=r"is not seen by the process on .*; checkpoints need a f"):
        run_rank(fit, lambda _: OneRank(), lambda _: None)


def test_processes_that_see_different_checkpoints_do_not_train(tmp_path, monkeypatch):
    waited = []
    monkeypatch.setattr("time.sleep", waited.append)
    monkeypatch.setattr(OneRank, "agree", lambda self, value: False)
    with pytest.raises(DataError, match="processes see different checkpoints; they need a folder"):
        run_rank(prepared(tmp_path), lambda _: OneRank(), lambda _: None)
    assert sum(waited) == 60


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="file: is a file, where a folder is to be written"):
        prepared(tmp_path / "file" / "folder")


def test_a_full_disk_is_one_line_and_the_same_fit_goes_on_afterwards(tmp_path, monkeypatch):
    """A checkpoint that cannot be written is left out; a result is an error, and all is kept."""
    fit = at_once(prepared(tmp_path))
    written = []

    def full(path, content):
        written.append(path.name)
        if path.name != "checkpoint.safetensors" or written.count(path.name) > 2:
            raise DataError("cannot be written (No space left on device)", source=path)
        atomic_write(path, content)

    for module in ("distributed", "checkpoint"):
        monkeypatch.setattr(f"lfds.train.{module}.atomic_write", full)
    with pytest.raises(DataError, match=r"result.safetensors: cannot be written \(No space left"):
        train_together(fit, lambda _: None)
    assert written.count("checkpoint.safetensors") == 3
    monkeypatch.undo()
    seen = []
    assert_same(train_together(fit, lambda now: seen.append(now.epochs)), finished())
    assert seen == [3]


class Groups:
    """Groups that lose a process, until there are no more losses."""

    def __init__(self, losses, epochs=0):
        self.losses, self.epochs, self.runs = losses, epochs, 0

    def __call__(self, fit, on_epoch):
        self.runs += 1
        if self.runs <= self.losses:
            for number in range(1, 1 + self.epochs * self.runs):
                on_epoch(Progress(loss=[0.5] * number))
            raise distributed._LostError(Died(-9).reason)


def test_a_group_is_restarted_a_few_times(tmp_path, monkeypatch):
    fit = prepared(tmp_path, ranks=2)
    groups = Groups(losses=MAX_RESTARTS)
    monkeypatch.setattr(distributed, "_run_group", groups)
    train_in_processes(fit, lambda _: None)
    assert groups.runs == MAX_RESTARTS + 1
    groups = Groups(losses=99)
    monkeypatch.setattr(distributed, "_run_group", groups)
    with pytest.raises(SpecError) as error:
        train_in_processes(fit, lambda _: None)
    assert groups.runs == MAX_RESTARTS + 1
    assert str(error.value) == (
        "workers: in 4 attempts one of 2 processes ended by signal 9; memory may be short; use "
        "fewer workers"
    )


def test_a_group_that_gets_further_each_time_is_restarted_more_often(tmp_path, monkeypatch):
    groups = Groups(losses=7, epochs=1)
    monkeypatch.setattr(distributed, "_run_group", groups)
    train_in_processes(prepared(tmp_path, ranks=2), lambda _: None)
    assert groups.runs == 8


def ending(*ends):
    """Return processes that end in these ways, one after the other."""

    def run(tasks, work, workers, on_step, on_end):
        assert workers == len(list(tasks)) == len(ends)
        for task, end in zip(tasks, ends, strict=True):
            on_end(task, end)

    return run


@pytest.mark.parametrize(
    ("ends", "error", "message"),
    [
        ((DivergedError("the loss became nan"), None), DivergedError, "the loss became nan"),
        ((distributed._Failed("closed"), Died(-9)), distributed._LostError, "by signal 9"),
        ((Died(1), None), SpecError, r"workers: a process ended with code 1; a script .*__main__"),
        ((distributed._Failed("bug"), distributed._Failed("closed")), RuntimeError, "bug"),
    ],
)
def test_the_first_cause_is_raised(tmp_path, monkeypatch, ends, error, message):
    monkeypatch.setattr(distributed, "run_in_processes", ending(*ends))
    with pytest.raises(error, match=message):
        distributed._run_group(prepared(tmp_path, ranks=2), lambda _: None)


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("cuda", "workers: 4 processes need an accelerator each, and this machine has 2; use work"),
        ("cuda:1", 'device: "cuda:1" is one accelerator, and 4 processes need one each; use devi'),
    ],
)
def test_every_process_needs_an_accelerator_of_its_own(tmp_path, monkeypatch, device, message):
    fit = prepared(tmp_path, ranks=4)
    settings = fit.training.model_copy(update={"device": device})
    fit = distributed.SharedFit(**{**vars(fit), "training": settings})
    monkeypatch.setattr(distributed, "resolve_device", torch.device)
    monkeypatch.setattr("torch.accelerator.device_count", lambda: 2)
    with pytest.raises(SpecError) as error:
        check_devices(fit)
    assert str(error.value).startswith(message)
    check_devices(prepared(tmp_path, ranks=4))  # on the CPU there is no such limit
