"""One fold run from beginning to end, in whatever process; what goes wrong becomes a result."""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
from threadpoolctl import threadpool_limits

from lfds.data.graphset import GraphSet
from lfds.experiment.checkpoint import save_checkpoint
from lfds.experiment.errors import DivergedError
from lfds.experiment.protocol import RUNS, Workshop, split_of
from lfds.experiment.task import FoldTask
from lfds.experiment.training import Training
from lfds.results.record import Failure, Outcome


@dataclass(frozen=True)
class Place:
    """Where a fold is run.

    Attributes:
        folder: Holds the cache of encodings and the checkpoints.
        patience: Seconds between two checkpoints, at least.
    """

    folder: Path
    patience: float = 10.0

    def checkpoint(self, task: FoldTask) -> Path:
        """Return the file in which the task is kept while it is not done."""
        return self.folder / "checkpoints" / f"{task.key}.safetensors"


@dataclass(frozen=True)
class Step:
    """One more epoch done.

    Attributes:
        key: Of the task.
        epochs: Done so far, those of earlier runs included.
        accuracy: On the graphs that are watched: validation under ``fair``, test under ``paper``.
    """

    key: str
    epochs: int
    accuracy: float


def run_fold(task: FoldTask, place: Place, tell: Callable[[Step], None]) -> Outcome | Failure:
    """Run a fold, or go on with it; a failure is returned, not raised."""
    try:
        with threadpool_limits(1):
            # Sums depend on how they are shared out: one thread, the same bits everywhere.
            torch.set_num_threads(1)
            graphs = _graphs(task.data)
            workshop = Workshop(
                place.folder / "encodings", place.checkpoint(task), _keeper(task, place, tell)
            )
            return RUNS[task.fold.protocol](task, graphs, split_of(task, graphs), workshop)
    except DivergedError as error:
        return Failure(reason=str(error), traceback=traceback.format_exc())
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return Failure(reason=reason, traceback=traceback.format_exc())


def _keeper(
    task: FoldTask, place: Place, tell: Callable[[Step], None]
) -> Callable[[Training], None]:
    """Return what is done after each epoch: tell, and now and then write a checkpoint."""
    written = time.monotonic()

    def after_epoch(training: Training) -> None:
        nonlocal written
        seen = training.progress
        if time.monotonic() - written >= place.patience:
            save_checkpoint(training, place.checkpoint(task), task.key)
            written = time.monotonic()
        tell(Step(task.key, seen.epochs, seen.watched[-1]))

    return after_epoch


@lru_cache(maxsize=1)
def _graphs(path: Path) -> GraphSet:
    return GraphSet.load(path)
