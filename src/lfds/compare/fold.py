"""Running one fold from start to end, in any process; errors become failures."""

import ctypes
import gc
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import torch
from threadpoolctl import threadpool_limits

from lfds.compare.protocol import RUNS, FoldContext, reference, split_of
from lfds.compare.task import FoldTask
from lfds.config.messages import SpecError
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.storage import content_of
from lfds.results.record import Failure, Outcome
from lfds.train import DivergedError
from lfds.train.checkpoint import UNUSED, save_checkpoint
from lfds.train.loop import Training


@dataclass(frozen=True)
class RunDirectory:
    """The folder of a run.

    Attributes:
        folder: Holds the cache of encodings and the checkpoints.
        patience: Seconds between two checkpoints, at least.
    """

    folder: Path
    patience: float = 10.0

    def checkpoint(self, task: FoldTask, training: int = 0) -> Path:
        """Return the checkpoint file of a training of an unfinished task."""
        return self.folder / "checkpoints" / f"{task.key}-{training}.safetensors"

    def remove_checkpoints(self, task: FoldTask) -> None:
        """Remove all checkpoints of a task."""
        for number in range(len(task.trainings)):
            checkpoint = self.checkpoint(task, number)
            checkpoint.unlink(missing_ok=True)
            checkpoint.with_name(f"{checkpoint.name}{UNUSED}").unlink(missing_ok=True)


@dataclass(frozen=True)
class Step:
    """One more epoch completed.

    Attributes:
        key: Of the task.
        epochs: Completed so far, including those of earlier runs, of other candidates and members.
        accuracy: On the validation graphs under ``fair``, on the test graphs under ``paper``.
    """

    key: str
    epochs: int
    accuracy: float


def run_fold(
    task: FoldTask, directory: RunDirectory, on_step: Callable[[Step], None]
) -> Outcome | Failure:
    """Run a fold, or resume it; a failure is returned, not raised."""
    try:
        with threadpool_limits(1):
            # Sums depend on how they are split over threads: one thread, the same bits everywhere.
            torch.set_num_threads(1)
            loaded = _graphs.cache_info().misses
            graphs = _graphs(task.data, task.content)
            context = FoldContext(
                directory.folder / "encodings",
                partial(directory.checkpoint, task),
                _after_epoch(task, directory, on_step),
            )
            peak = measure_peak_memory()
            run = RUNS[task.fold.protocol] if task.forest is None else reference
            outcome = run(task, graphs, split_of(task, graphs), context)
            first = _graphs.cache_info().misses > loaded
            return outcome.model_copy(update={"peak_memory": peak(), "cold_start": first})
    except (DataError, DivergedError, SpecError) as error:
        return Failure(reason=str(error), traceback=traceback.format_exc())
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return Failure(reason=reason, traceback=traceback.format_exc())


def _after_epoch(
    task: FoldTask, directory: RunDirectory, on_step: Callable[[Step], None]
) -> Callable[[int, Training], None]:
    """Return the function that reports each epoch, and writes a checkpoint now and then."""
    written = time.monotonic()

    def after_epoch(number: int, training: Training) -> None:
        nonlocal written
        progress = training.progress
        earlier = task.epochs_before(number)
        if time.monotonic() - written >= directory.patience:
            save_checkpoint(training, directory.checkpoint(task, number), task.key)
            written = time.monotonic()
        on_step(Step(task.key, earlier + progress.epochs, progress.validation[-1]))

    return after_epoch


@lru_cache(maxsize=1)
def _graphs(path: Path, content: str) -> GraphSet:
    graphs = GraphSet.load(path)
    if content_of(graphs) != content:
        raise DataError(
            "does not hold the graphs that it is named after; run the same command again, which "
            "writes them anew",
            source=path,
        )
    return graphs


def measure_peak_memory(process: Path = Path("/proc/self")) -> Callable[[], int | None]:
    """Start measuring; return a function that returns the peak memory since now, in bytes.

    The peak is relative to the memory in use now. Linux keeps the largest resident set of a process
    (``VmHWM``) and lets the process reset it, so nothing is sampled. Memory that earlier work has
    freed is returned to the system first. Pages of mapped files count when they are first used:
    the first fold of a process includes code and data that later ones find loaded.

    The function returns None where there is no such counter: on other systems than Linux, or in a
    container that forbids resetting it. A second measurement resets the first.

    Args:
        process: The folder of this process in the file system ``/proc``.
    """
    _release_freed_memory()
    try:
        (process / "clear_refs").write_text("5")  # resets VmHWM
        start = _status_bytes(process, "VmRSS")
    except OSError:
        return lambda: None
    return lambda: max(0, _status_bytes(process, "VmHWM") - start)


def _status_bytes(process: Path, entry: str) -> int:
    """Read an entry of the status of a process, ``VmRSS:  123 kB``."""
    lines = (process / "status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{entry}:"))


def _release_freed_memory() -> None:
    gc.collect()
    # Of glibc alone; other C libraries have no such function.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
