"""Any sequence of epochs, checkpoints, kills and damage: trainings end in the same bits."""

import os
import shutil
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
import torch
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from lfds.config.training import TrainingSettings
from lfds.train import checkpoint as implementation
from tests.train.small import make, weights

_SETTINGS = TrainingSettings(epochs=4, batch_size=4, learning_rate=0.01)


class KilledError(BaseException):
    """Stands for a kill: nothing after it runs."""


def _training():
    return make(settings=_SETTINGS, per_class=4)


@cache
def undisturbed():
    """Return the weights after every epoch, and the progress at the end."""
    training = _training()
    states = [weights(training).clone()]
    training.run(lambda now: states.append(weights(now).clone()))
    return states, weights(training).clone(), training.progress


class CheckpointMachine(RuleBasedStateMachine):
    """A training and its checkpoint, beside the number of epochs that the checkpoint holds."""

    def __init__(self):
        super().__init__()
        self.temporary = TemporaryDirectory()
        self.path = Path(self.temporary.name) / "checkpoints" / "c.safetensors"
        self.training, self.saved = _training(), 0

    def teardown(self):
        """Whatever happened, let the training end: the bits are those of an undisturbed one."""
        try:
            self.start_again("key")
            self.training.run(lambda _: None)
            _, end, progress = undisturbed()
            assert torch.equal(weights(self.training), end)
            assert self.training.progress.validation_loss == progress.validation_loss
            assert self.training.progress.best == progress.best
        finally:
            self.temporary.cleanup()

    @rule(epochs=st.integers(1, 3), save=st.booleans())
    def train(self, epochs, save):
        stop = self.training.progress.epochs + epochs

        def after(now):
            if save:
                implementation.save_checkpoint(now, self.path, "key")
                self.saved = now.progress.epochs
            if now.progress.epochs == stop:
                raise KilledError

        with suppress(KilledError):
            self.training.run(after)
        # As after a kill: nothing but the checkpoint is left.
        self.start_again("key")

    @rule()
    def kill_while_saving(self):
        def killed(*arguments, **options):
            raise KilledError

        with patch.object(os, "replace", killed), pytest.raises(KilledError):
            implementation.save_checkpoint(_training(), self.path, "key")

    @rule(key=st.sampled_from(("key", "key", "other")))
    def start_again(self, key):
        self.training, path = _training(), self.path
        if key != "key" and path.exists():  # what is not used may be moved aside
            path = Path(shutil.copy(path, path.with_name("copy")))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            restored = implementation.restore_checkpoint(self.training, path, key)
        expected = self.saved if key == "key" else 0
        assert restored == (expected > 0)
        assert self.training.progress.epochs == expected
        if expected < _SETTINGS.epochs:
            assert torch.equal(weights(self.training), undisturbed()[0][expected])
        if key != "key":
            self.start_again("key")

    @rule(how=st.sampled_from(("cut", "junk", "empty", "gone")), share=st.floats(0, 0.99))
    def damage(self, how, share):
        if not self.path.is_file():
            return
        content = self.path.read_bytes()
        self.path.unlink()
        if how != "gone":
            cut = content[: int(share * len(content))]
            self.path.write_bytes({"cut": cut, "junk": b"x" * 99, "empty": b""}[how])
        self.saved = 0

    @rule()
    def leave_a_temporary_file(self):
        self.path.parent.mkdir(exist_ok=True)
        (self.path.parent / f".{self.path.name}-abcdef").write_bytes(b"half")


def check(examples=6, steps=5):
    undisturbed()
    how = settings(
        max_examples=examples,
        stateful_step_count=steps,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(CheckpointMachine, settings=how)


def test_trainings_end_in_the_same_bits_whatever_happens():
    check()


def _forgets_the_moments(training, path, key):
    restored = restore(training, path, key)
    training.optimizer.state.clear()
    return restored


def _one_epoch_too_many(training, path, key):
    restored = restore(training, path, key)
    if restored and training.progress.epochs > 1:
        training.progress.loss.append(0.0)
    return restored


restore = implementation.restore_checkpoint
# A checkpoint that is torn or of another training is refused by its checksum and its key, which
# tests/train/test_checkpoint.py tests one by one.
BROKEN = {
    "without the moments of Adam": ("restore_checkpoint", _forgets_the_moments),
    "an epoch too many": ("restore_checkpoint", _one_epoch_too_many),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_checkpoints_are_caught(name):
    attribute, broken = BROKEN[name]
    with patch.object(implementation, attribute, broken), pytest.raises(AssertionError):
        check(examples=20)
