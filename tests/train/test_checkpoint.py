import json
import os

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from lfds.config.migrations import SCHEMA_VERSION
from lfds.train.checkpoint import CheckpointWarning, restore_checkpoint, save_checkpoint
from tests.train.small import finished, make, weights


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
    for later in ("schema_version", "backend", "checksum"):
        del metadata[later]
    save_file(renamed, path, metadata)
    return renamed


def assert_continues_to_the_same_bits(path, after, **how):
    training = make(**how)
    assert restore_checkpoint(training, path, "key")
    assert training.progress.epochs == after
    training.run(lambda _: None)
    whole = finished(**how)
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
    rewritten(path, tensors, metadata)
    assert_continues_to_the_same_bits(path, 1)


def test_without_the_moments_of_adam_other_weights_result(tmp_path, monkeypatch):
    interrupted(tmp_path / "half", 1)
    monkeypatch.setattr(torch.optim.AdamW, "load_state_dict", lambda *_: None)
    training = make()
    restore_checkpoint(training, tmp_path / "half", "key")
    training.run(lambda _: None)
    assert not torch.equal(weights(training), weights(finished()))


def test_without_the_averaged_weights_other_validation_losses_result(tmp_path, monkeypatch):
    interrupted(tmp_path / "half", 1)
    monkeypatch.setattr("lfds.train.ema.EMA.load_state_dict", lambda *_: None)
    training = make()
    restore_checkpoint(training, tmp_path / "half", "key")
    training.run(lambda _: None)
    assert training.progress.validation_loss != finished().progress.validation_loss


def rewritten(path, tensors, metadata):
    """Write a checkpoint without a checksum, as before there was one."""
    save_file(tensors, path, {k: v for k, v in metadata.items() if k != "checksum"})


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """Return the content of a checkpoint after one epoch."""
    path = tmp_path_factory.mktemp("trained") / "half"
    interrupted(path, 1)
    return path.read_bytes()


ANCHORS = "model/pool.pools.0.anchors.free"


def content(change):
    """Return a damage: another content of the file."""
    return lambda path: path.write_bytes(change(path.read_bytes()))


def tensor(name, change):
    """Return a damage: another tensor, or none."""

    def damage(path):
        tensors, metadata = content_of(path)
        tensors[name] = change(tensors.get(name))
        rewritten(path, {k: v for k, v in tensors.items() if v is not None}, metadata)

    return damage


def noted(**change):
    """Return a damage: other metadata."""

    def damage(path):
        tensors, metadata = content_of(path)
        rewritten(path, tensors, metadata | change)

    return damage


def progress(**change):
    """Return a damage: another progress."""

    def damage(path):
        stored = json.loads(content_of(path)[1]["progress"])
        noted(progress=json.dumps(stored | change))(path)

    return damage


def without_best(path):
    tensors, metadata = content_of(path)
    rewritten(path, {k: v for k, v in tensors.items() if not k.startswith("best/")}, metadata)


def flip(written):
    """Return the content with another bit in the middle of the tensors."""
    at = len(written) // 2
    return written[:at] + bytes([written[at] ^ 1]) + written[at + 1 :]


LONG = {name: [0.5] * 9 for name in ("loss", "train", "watched", "watched_loss")}


def pipe(path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (pipe, "it is not a regular file"),
        (content(lambda written: written[:-50]), ""),
        (content(lambda _: b"x" * 100), ""),
        (content(lambda _: b""), ""),
        (content(flip), "its checksum differs"),
        (noted(key="other"), "it is of another training"),
        (noted(schema_version=str(SCHEMA_VERSION + 1)), "schema_version is"),
        (noted(backend="torch 1.0 cuda X"), "it is of torch 1.0 cuda X, and this is torch .* cpu"),
        (noted(progress="{"), ""),
        (tensor(ANCHORS, lambda _: None), "anchors.free"),
        (tensor(ANCHORS, lambda _: torch.ones(3, 3)), r"float32 \[3, 3\]"),
        (tensor(ANCHORS, lambda value: value / 0), "is not finite"),
        (tensor("adam/0/exp_avg", lambda _: torch.ones(3, 3)), r"adam/0/exp_avg is \[3, 3\]"),
        (tensor("adam/999/exp_avg", lambda _: torch.ones(3, 3)), "index"),
        (tensor("adam/0/exp_avg", lambda value: value / 0), "adam/0/exp_avg is not finite"),
        (tensor("adam/0/step", lambda _: None), "adam/0 has exp_avg, exp_avg_sq"),
        (without_best, "it has no weights"),
        (progress(loss=[1.0, 1.0]), "its curves differ in length"),
        (progress(**LONG), "it has more epochs"),
    ],
)
def test_an_invalid_checkpoint_is_set_aside_in_words(half, tmp_path, damage, reason):
    path = tmp_path / "half"
    path.write_bytes(half)
    damage(path)
    training = make()
    before = weights(training).clone()
    with pytest.warns(CheckpointWarning, match=f"half: the checkpoint is not used .*{reason}"):
        assert not restore_checkpoint(training, path, "key")
    assert torch.equal(weights(training), before)
    assert training.progress.epochs == 0
    assert [left.name for left in tmp_path.iterdir()] == ["half.unused"]


def test_a_missing_checkpoint_is_nothing_to_speak_of(tmp_path):
    assert not restore_checkpoint(make(), tmp_path / "half", "key")


def test_a_checkpoint_without_backend_and_checksum_is_continued(tmp_path):
    path = tmp_path / "half"
    interrupted(path, 1)
    tensors, metadata = content_of(path)
    del metadata["backend"]
    rewritten(path, tensors, metadata)
    assert_continues_to_the_same_bits(path, 1)


def test_a_checkpoint_that_cannot_be_written_is_skipped(tmp_path):
    (tmp_path / "file").write_text("")
    save_checkpoint(finished(), tmp_path / "file" / "half", "key")
    assert (tmp_path / "file").read_text() == ""
