"""One fold run from beginning to end, in whatever process; what goes wrong becomes a result."""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import torch
from threadpoolctl import threadpool_limits

from lfds.compare.memory import begin_peak
from lfds.compare.protocol import RUNS, FoldContext, split_of
from lfds.compare.task import FoldTask
from lfds.config.errors import SpecError
from lfds.data.graphset import GraphSet
from lfds.results.record import Failure, Outcome
from lfds.train.checkpoint import save_checkpoint
from lfds.train.errors import DivergedError
from lfds.train.loop import Training


@dataclass(frozen=True)
class RunDirectory:
    """Where a fold is run.

    Attributes:
        folder: Holds the cache of encodings and the checkpoints.
        patience: Seconds between two checkpoints, at least.
    """

    folder: Path
    patience: float = 10.0

    def checkpoint(self, task: FoldTask, candidate: int = 0) -> Path:
        """Return the file in which a candidate is kept while the task is not done."""
        return self.folder / "checkpoints" / f"{task.key}-{candidate}.safetensors"

    def forget(self, task: FoldTask) -> None:
        """Remove what was kept of a task."""
        for candidate in range(len(task.candidates)):
            self.checkpoint(task, candidate).unlink(missing_ok=True)


@dataclass(frozen=True)
class Step:
    """One more epoch done.

    Attributes:
        key: Of the task.
        epochs: Done so far, those of earlier runs and of other candidates included.
        accuracy: On the graphs that are watched: validation under ``fair``, test under ``paper``.
    """

    key: str
    epochs: int
    accuracy: float


def run_fold(
    task: FoldTask, place: RunDirectory, tell: Callable[[Step], None]
) -> Outcome | Failure:
    """Run a fold, or go on with it; a failure is returned, not raised."""
    try:
        with threadpool_limits(1):
            # Sums depend on how they are shared out: one thread, the same bits everywhere.
            torch.set_num_threads(1)
            graphs = _graphs(task.data)
            workshop = FoldContext(
                place.folder / "encodings",
                partial(place.checkpoint, task),
                _keeper(task, place, tell),
            )
            peak = begin_peak()
            end = RUNS[task.fold.protocol](task, graphs, split_of(task, graphs), workshop)
            return end.model_copy(update={"peak_memory": peak()})
    except (DivergedError, SpecError) as error:
        return Failure(reason=str(error), traceback=traceback.format_exc())
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return Failure(reason=reason, traceback=traceback.format_exc())


def _keeper(
    task: FoldTask, place: RunDirectory, tell: Callable[[Step], None]
) -> Callable[[int, Training], None]:
    """Return what is done after each epoch: tell, and now and then write a checkpoint."""
    written = time.monotonic()

    def after_epoch(candidate: int, training: Training) -> None:
        nonlocal written
        seen = training.progress
        before = sum(done.training.epochs for done in task.candidates[:candidate])
        if time.monotonic() - written >= place.patience:
            save_checkpoint(training, place.checkpoint(task, candidate), task.key)
            written = time.monotonic()
        tell(Step(task.key, before + seen.epochs, seen.watched[-1]))

    return after_epoch


@lru_cache(maxsize=1)
def _graphs(path: Path) -> GraphSet:
    return GraphSet.load(path)
