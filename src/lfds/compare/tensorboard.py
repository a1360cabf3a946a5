"""Learning curves for TensorBoard: one run for each fold, written when the fold has ended."""

import importlib.util
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import final
from urllib.parse import quote

from lfds.compare.fold import Step
from lfds.compare.runner import Observer
from lfds.compare.task import FoldTask
from lfds.config.messages import SpecError
from lfds.results.record import Record


@final
class TensorBoardCurves:
    """An observer that writes curves, and passes everything on to another observer.

    Existing curves of a fold are left alone, so that a resumed run shows every fold once. Failed
    folds have no curves.

    Args:
        folder: The folder for TensorBoard.
        observer: Is called as well.
    """

    def __init__(self, folder: Path, observer: Observer) -> None:
        if importlib.util.find_spec("tensorboard") is None:
            raise SpecError(
                "TensorBoard is not installed; install it with: pip install 'lfds[tensorboard]'"
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SpecError(
                f"tensorboard: {folder} cannot be created ({error.strerror}); use another folder"
            ) from error
        self._folder, self._observer = folder, observer

    def begin(self, tasks: Sequence[FoldTask], stored: Sequence[Record], torn: int) -> None:
        self._observer.begin(tasks, stored, torn)
        for record in stored:
            self._write(record)

    def step(self, task: FoldTask, step: Step) -> None:
        self._observer.step(task, step)

    def end(self, task: FoldTask, record: Record) -> None:
        self._observer.end(task, record)
        self._write(record)

    def _write(self, record: Record) -> None:
        run = self._folder / run_of(record)
        if run.exists() or record.outcome is None:
            return
        # Under another name first, so that an interrupted run is never taken for a complete one.
        part = run.with_name(f"{run.name}.part")
        try:
            shutil.rmtree(part, ignore_errors=True)
            write_run(part, record)
            part.rename(run)
        except OSError as error:
            raise SpecError(
                f"tensorboard: {run} cannot be written ({error.strerror}); the records are safe, "
                f"and the same command resumes the run"
            ) from error


def run_of(record: Record) -> str:
    """Return the name of a fold's TensorBoard run."""
    fold = record.fold
    names = "/".join(quote(name, safe="+:") for name in (fold.dataset, fold.pool))
    return f"{names}/seed {fold.seed} fold {fold.fold + 1} of {fold.folds} {record.key[:8]}"


def points_of(record: Record) -> Iterator[tuple[str, int, float]]:
    """Yield the points of all curves: name, epoch counted from 1, value.

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
    """Write the curves of a record as a TensorBoard run."""
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(folder)) as writer:
        for name, epoch, value in points_of(record):
            writer.add_scalar(name, value, epoch)
