"""Estimators that are fitted by several processes."""

import os
import signal
from multiprocessing import active_children

import pytest
import torch

import lfds
from lfds.config.messages import SpecError
from lfds.train.distributed import train_in_processes
from tests.estimator.small import FAST, classifier, graphs, values


def weights(model):
    return torch.cat([value.double().flatten() for value in model.network_.state_dict().values()])


def empty_folder_for_temporary_files(folder, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    # torch makes a folder for compiled code among temporary files; it is not ours.
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(folder.parent / "compiled"))


def test_two_processes_give_the_same_bits_twice_and_leave_nothing(tmp_path, monkeypatch):
    empty_folder_for_temporary_files(tmp_path, monkeypatch)
    models = [lfds.LFDSClassifier(**FAST, seed=1, workers=2).fit(graphs()) for _ in range(2)]
    assert torch.equal(weights(models[0]), weights(models[1]))
    first, second = (model.history_ for model in models)
    assert first.loss == second.loss
    assert len(first.loss) == FAST["epochs"]
    assert models[0].temperature_ == models[1].temperature_
    assert not torch.equal(weights(models[0]), weights(classifier()))
    assert list(tmp_path.iterdir()) == []
    assert active_children() == []


def test_one_worker_with_checkpoints_has_the_bits_of_one_without(tmp_path):
    folder = tmp_path / "checkpoints"
    model = lfds.LFDSClassifier(**FAST, seed=1).fit(graphs(), checkpoints=folder)
    assert torch.equal(weights(model), weights(classifier()))
    assert model.temperature_ == classifier().temperature_
    assert model.history_.loss == classifier().history_.loss
    assert list(folder.iterdir()) == []


def test_a_warm_start_begins_with_the_weights_of_the_last_fit(tmp_path):
    once = lfds.LFDSRegressor(**FAST, warm_start=True).fit(graphs(), values())
    expected = lfds.LFDSRegressor(**FAST, warm_start=True).fit(graphs(), values())
    expected.fit(graphs(), values())
    once.fit(graphs(), values(), checkpoints=tmp_path)
    assert torch.equal(weights(once), weights(expected))


def test_more_workers_than_graphs_are_refused_in_one_line():
    with pytest.raises(SpecError, match=r"^workers: each of 50 processes needs a graph of every"):
        lfds.LFDSClassifier(**FAST, workers=50).fit(graphs())


@pytest.mark.slow
def test_a_killed_process_is_replaced_and_the_bits_are_the_same(tmp_path, monkeypatch):
    empty_folder_for_temporary_files(tmp_path, monkeypatch)
    options = {**FAST, "epochs": 5, "workers": 2}
    undisturbed = lfds.LFDSClassifier(**options).fit(graphs())
    killed, epochs = [], []

    def train(fit, on_epoch):
        """Write a checkpoint after every epoch, and kill a process after the second."""

        def step(progress):
            epochs.append(progress.epochs)
            if progress.epochs == 2 and not killed:
                killed.append(active_children()[-1].pid)
                os.kill(killed[0], signal.SIGKILL)
            on_epoch(progress)

        object.__setattr__(fit, "interval", 0.0)
        train_in_processes(fit, step)

    monkeypatch.setattr("lfds.train.distributed.train_in_processes", train)
    disturbed = lfds.LFDSClassifier(**options).fit(graphs())
    assert len(killed) == 1
    assert 1 not in epochs[2:]  # it did not begin anew
    assert epochs[-1] == 5
    assert torch.equal(weights(undisturbed), weights(disturbed))
    assert undisturbed.history_.validation_loss == disturbed.history_.validation_loss
    assert list(tmp_path.iterdir()) == []
    assert active_children() == []


@pytest.mark.slow
def test_an_error_of_a_process_is_raised_here(tmp_path, monkeypatch):
    empty_folder_for_temporary_files(tmp_path, monkeypatch)
    from lfds.train import DivergedError

    with pytest.raises(DivergedError, match=r"in epoch 1; a lower learning rate than 1e\+30"):
        lfds.LFDSClassifier(**{**FAST, "learning_rate": 1e30}, workers=2).fit(graphs())
    assert list(tmp_path.iterdir()) == []
    assert active_children() == []
