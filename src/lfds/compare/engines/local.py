"""Folds run on this machine; how many processes there are changes no bit of the results."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import partial
from typing import final

from lfds.compare.fold import RunDirectory, Step, run_fold
from lfds.compare.task import FoldTask
from lfds.processes import Died, run_in_processes
from lfds.results.record import Failure, Outcome

OnStep = Callable[[FoldTask, Step], None]
OnEnd = Callable[[FoldTask, Outcome | Failure], None]


class Engine(ABC):
    """Runs folds."""

    @abstractmethod
    def run(
        self, tasks: Iterable[FoldTask], directory: RunDirectory, on_step: OnStep, on_end: OnEnd
    ) -> None:
        """Run all tasks; both functions are called in the process and thread of the caller."""


@final
class SerialEngine(Engine):
    """One fold after the other, in this process."""

    def run(
        self, tasks: Iterable[FoldTask], directory: RunDirectory, on_step: OnStep, on_end: OnEnd
    ) -> None:
        for task in tasks:
            on_end(task, run_fold(task, directory, partial(on_step, task)))


@final
class ProcessEngine(Engine):
    """Several folds at a time, each in a process with one thread.

    Args:
        workers: Number of processes.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(
        self, tasks: Iterable[FoldTask], directory: RunDirectory, on_step: OnStep, on_end: OnEnd
    ) -> None:
        def end(task: FoldTask, result: Outcome | Failure | Died) -> None:
            if isinstance(result, Died):
                result = Failure(reason=f"the process that ran the fold {result.reason}")
            on_end(task, result)

        run_in_processes(tasks, partial(_run_fold, directory), self.workers, on_step, end)


def engine_for(workers: int) -> Engine:
    """Return the engine for a number of workers."""
    return SerialEngine() if workers == 1 else ProcessEngine(workers)


def _run_fold(
    directory: RunDirectory, task: FoldTask, on_step: Callable[[Step], None]
) -> Outcome | Failure:
    return run_fold(task, directory, on_step)
