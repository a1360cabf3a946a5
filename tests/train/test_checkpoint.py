import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from lfds.config.migrations import SCHEMA_VERSION
from lfds.train.checkpoint import restore_checkpoint, save_checkpoint
from tests.train.small import make, trained, weights


class StopNowError(Exception):
    pass


def interrupted(path, after, **how):
    training = make(**how)

    def stop(now):
        if now.progress.epochs == after:
            save_checkpoint(now, path, "key")
            raise StopNowError

    with pytest.raises(StopNowError):
        training.run(stop)


def content_of(path):
    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()  # noqa: SIM118


def as_version_1(path):
    """Rewrite a checkpoint as it was before the schema had a version."""
    tensors, metadata = content_of(path)
    renamed = {}
    for name, value in tensors.items():
        prefix, found, tail = name.partition("pool.pools.")
        if found and ".input_map." in tail:  # one for all structures that are used side by side
            renamed[f"{prefix}pool.mix.{tail.partition('.input_map.')[2]}"] = value
        else:
            renamed[name] = value
    del metadata["schema_version"]
    save_file(renamed, path, metadata)
    return renamed


def assert_continues_to_the_same_bits(path, after, **how):
    training = make(**how)
    assert restore_checkpoint(training, path, "key")
    assert training.progress.epochs == after
    training.run(lambda _: None)
    whole = trained(**how)
    assert torch.equal(weights(training), weights(whole))
    for name in ("loss", "train", "validation", "validation_loss", "best"):
        assert getattr(training.progress, name) == getattr(whole.progress, name)
    assert training.best.keys() == whole.best.keys()
    for name, value in whole.best.items():
        assert torch.equal(training.best[name], value)


@pytest.mark.parametrize("after", [1, 2])
def test_an_interrupted_training_continues_to_the_same_bits(tmp_path, after):
    path = tmp_path / "folder" / "half.safetensors"
    interrupted(path, after)
    assert_continues_to_the_same_bits(path, after)


@pytest.mark.parametrize("pool", ["max", "loop", "loop+image"])
def test_a_checkpoint_with_earlier_names_of_tensors_is_continued(tmp_path, pool):
    path = tmp_path / "half"
    interrupted(path, 1, pool=pool)
    names = as_version_1(path)
    assert (
        ("model/pool.mix.weight" in names) == ("best/pool.mix.weight" in names) == (pool != "max")
    )
    assert not any("input_map" in name for name in names)
    assert_continues_to_the_same_bits(path, 1, pool=pool)


def test_a_checkpoint_without_a_version_and_with_todays_names_is_continued(tmp_path):
    path = tmp_path / "half"
    interrupted(path, 1)
    tensors, metadata = content_of(path)
    assert json.loads(metadata.pop("schema_version")) == SCHEMA_VERSION
    assert set(json.loads(metadata["progress"])) >= {"loss", "train", "watched", "watched_loss"}
    save_file(tensors, path, metadata)
    assert_continues_to_the_same_bits(path, 1)


def test_without_the_moments_of_adam_other_weights_result(tmp_path, monkeypatch):
    interrupted(tmp_path / "half", 1)
    monkeypatch.setattr("lfds.train.checkpoint._restore_moments", lambda *_: None)
    training = make()
    restore_checkpoint(training, tmp_path / "half", "key")
    training.run(lambda _: None)
    assert not torch.equal(weights(training), weights(trained()))


def test_without_the_averaged_weights_other_validation_losses_result(tmp_path, monkeypatch):
    interrupted(tmp_path / "half", 1)
    monkeypatch.setattr("lfds.train.ema.EMA.load_state_dict", lambda *_: None)
    training = make()
    restore_checkpoint(training, tmp_path / "half", "key")
    training.run(lambda _: None)
    assert training.progress.validation_loss != trained().progress.validation_loss


@pytest.mark.parametrize(
    "damage", ["missing", "cut", "junk", "empty", "other key", "later version", "other network"]
)
def test_an_invalid_checkpoint_is_ignored(tmp_path, damage):
    path = tmp_path / "half"
    interrupted(path, 1)
    content = path.read_bytes()
    tensors, metadata = content_of(path)
    if damage == "missing":
        path.unlink()
    elif damage == "later version":
        save_file(tensors, path, metadata | {"schema_version": str(SCHEMA_VERSION + 1)})
    elif damage == "other network":
        del tensors["model/pool.pools.0.anchors.matrix"]
        save_file(tensors, path, metadata)
    elif damage != "other key":
        path.write_bytes({"cut": content[:-50], "junk": b"x" * 100, "empty": b""}[damage])
    training = make()
    before = weights(training).clone()
    assert not restore_checkpoint(training, path, "other" if damage == "other key" else "key")
    assert torch.equal(weights(training), before)
    assert training.progress.epochs == 0


def test_a_checkpoint_that_cannot_be_written_is_skipped(tmp_path):
    (tmp_path / "file").write_text("")
    save_checkpoint(trained(), tmp_path / "file" / "half", "key")
    assert (tmp_path / "file").read_text() == ""
