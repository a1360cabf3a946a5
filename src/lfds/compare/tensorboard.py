"""Curves for TensorBoard: one run for each fold, written from its record when it has ended."""

import importlib.util
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import final
from urllib.parse import quote

from lfds.compare.fold import Step
from lfds.compare.runner import Watcher
from lfds.compare.task import FoldTask
from lfds.config.errors import SpecError
from lfds.results.record import Record


@final
class Curves:
    """A watcher that writes down curves, and passes on what it is told.

    A fold of which curves are there already is left alone, so that a run that is gone on with
    shows every fold once. A fold that failed has no curves.

    Args:
        folder: Where TensorBoard is to look.
        watcher: Is told everything as well.
    """

    def __init__(self, folder: Path, watcher: Watcher) -> None:
        if importlib.util.find_spec("tensorboard") is None:
            raise SpecError(
                "--tensorboard needs TensorBoard; install it with: pip install 'lfds[tensorboard]'"
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SpecError(
                f"--tensorboard: {folder} cannot be made ({error.strerror}); name another folder"
            ) from error
        self._folder, self._watcher = folder, watcher

    def begin(self, tasks: Sequence[FoldTask], known: Sequence[Record], torn: int) -> None:
        self._watcher.begin(tasks, known, torn)
        for record in known:
            self._write(record)

    def step(self, task: FoldTask, step: Step) -> None:
        self._watcher.step(task, step)

    def end(self, task: FoldTask, record: Record) -> None:
        self._watcher.end(task, record)
        self._write(record)

    def _write(self, record: Record) -> None:
        run = self._folder / run_of(record)
        if run.exists() or record.outcome is None:
            return
        # Beside, then into place: a run is there whole or not at all.
        beside = run.with_name(f"{run.name}.part")
        try:
            shutil.rmtree(beside, ignore_errors=True)
            write_run(beside, record)
            beside.rename(run)
        except OSError as error:
            raise SpecError(
                f"--tensorboard: {run} cannot be written ({error.strerror}); the records are safe, "
                f"and the same command goes on from here"
            ) from error


def run_of(record: Record) -> str:
    """Return the name of a fold's run: what it is called, and the key of its settings."""
    fold = record.fold
    names = "/".join(quote(name, safe="+:") for name in (fold.dataset, fold.pool))
    return f"{names}/seed {fold.seed} fold {fold.fold + 1} of {fold.folds} {record.key[:8]}"


def points_of(record: Record) -> Iterator[tuple[str, int, float]]:
    """Return the points of all curves: name, epoch counted from 1, value.

    Test accuracy carries the name of its protocol, as everywhere.
    """
    if record.outcome is None:
        return
    curve = record.outcome.curve
    curves = {
        "loss/training": curve.loss,
        "loss/validation": curve.validation_loss,
        "accuracy/training": curve.train,
        "accuracy/validation": curve.validation,
        "accuracy/test (paper)": curve.test,
    }
    for name, values in curves.items():
        for epoch, value in enumerate(values, start=1):
            yield name, epoch, value
    if record.outcome.accuracy is not None and record.outcome.epoch is not None:
        yield "accuracy/test (fair)", record.outcome.epoch + 1, record.outcome.accuracy


def write_run(folder: Path, record: Record) -> None:
    """Write the curves of a record as a run of TensorBoard."""
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(folder)) as writer:
        for name, epoch, value in points_of(record):
            writer.add_scalar(name, value, epoch)
