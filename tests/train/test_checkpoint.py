import pytest
import torch

from lfds.train.checkpoint import restore_checkpoint, save_checkpoint
from tests.train.test_loop import make, trained, weights


class StopNowError(Exception):
    pass


def interrupted(path, after):
    training = make()

    def stop(now):
        if now.progress.epochs == after:
            save_checkpoint(now, path, "key")
            raise StopNowError

    with pytest.raises(StopNowError):
        training.run(stop)


@pytest.mark.parametrize("after", [1, 2])
def test_an_interrupted_training_goes_on_bit_for_bit(tmp_path, after):
    path = tmp_path / "folder" / "half.safetensors"
    interrupted(path, after)
    training = make(scope=("test",))
    assert restore_checkpoint(training, path, "key")
    assert training.progress.epochs == after
    training.run(lambda _: None)
    whole = trained()
    assert torch.equal(weights(training), weights(whole))
    for name in ("loss", "train", "watched", "watched_loss", "best"):
        assert getattr(training.progress, name) == getattr(whole.progress, name)
    for name, value in whole.best.items():
        assert torch.equal(training.best[name], value)


def test_without_the_moments_of_adam_other_weights_come_out(tmp_path, monkeypatch):
    interrupted(tmp_path / "half", 1)
    monkeypatch.setattr("lfds.train.checkpoint._restore_moments", lambda *_: None)
    training = make()
    restore_checkpoint(training, tmp_path / "half", "key")
    training.run(lambda _: None)
    assert not torch.equal(weights(training), weights(trained()))


def test_without_the_mean_of_the_epochs_another_best_comes_out(tmp_path, monkeypatch):
    interrupted(tmp_path / "half", 1)
    monkeypatch.setattr("lfds.train.ema.Averaged.restore", lambda *_: None)
    training = make()
    restore_checkpoint(training, tmp_path / "half", "key")
    training.run(lambda _: None)
    assert training.progress.watched_loss != trained().progress.watched_loss


@pytest.mark.parametrize("damage", ["missing", "cut", "junk", "empty", "other key"])
def test_what_is_no_checkpoint_of_this_fold_is_forgotten(tmp_path, damage):
    path = tmp_path / "half"
    interrupted(path, 1)
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage != "other key":
        path.write_bytes({"cut": content[:-50], "junk": b"x" * 100, "empty": b""}[damage])
    training = make()
    before = weights(training).clone()
    assert not restore_checkpoint(training, path, "other" if damage == "other key" else "key")
    assert torch.equal(weights(training), before)
    assert training.progress.epochs == 0


def test_a_full_disk_costs_the_checkpoint_and_nothing_else(tmp_path):
    (tmp_path / "file").write_text("")
    save_checkpoint(trained(), tmp_path / "file" / "half", "key")
    assert (tmp_path / "file").read_text() == ""
