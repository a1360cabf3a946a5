"""Folds run on this machine; how many processes there are changes no bit of the results.

Each process has a pipe of its own: one that is killed loses only the fold it was running, and is
replaced.
"""

import signal
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import final

from lfds.compare.fold import RunDirectory, Step, run_fold
from lfds.compare.task import FoldTask
from lfds.data.encodings.compute import exit_with_parent
from lfds.interrupts import without_interrupts
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
        queue = deque(tasks)
        workers: dict[Connection, _Worker] = {}
        try:
            for _ in range(min(self.workers, len(queue))):
                _start_worker(workers, queue.popleft(), directory)
            while workers:
                for connection in wait(list(workers)):
                    assert isinstance(connection, Connection)
                    self._receive(workers, connection, queue, directory, on_step, on_end)
        finally:
            for worker in workers.values():
                worker.process.kill()
                worker.process.join()

    def _receive(
        self,
        workers: dict[Connection, "_Worker"],
        connection: Connection,
        queue: deque[FoldTask],
        directory: RunDirectory,
        on_step: OnStep,
        on_end: OnEnd,
    ) -> None:
        """Handle one message of a worker, or its death; give it or a new worker the next task."""
        worker = workers[connection]
        try:
            message = connection.recv()
        except (EOFError, OSError):
            failure = _failure_of(workers.pop(connection))
            if queue:
                _start_worker(workers, queue.popleft(), directory)
            on_end(worker.task, failure)
            return
        if isinstance(message, Step):
            on_step(worker.task, message)
            return
        ended = worker.task
        if queue:
            worker.task = queue.popleft()
            connection.send(worker.task)
        else:
            del workers[connection]
            connection.close()
            worker.process.join()
        on_end(ended, message)


def engine_for(workers: int) -> Engine:
    """Return the engine for a number of workers."""
    return SerialEngine() if workers == 1 else ProcessEngine(workers)


@dataclass
class _Worker:
    process: SpawnProcess
    task: FoldTask


def _start_worker(
    workers: dict[Connection, _Worker], task: FoldTask, directory: RunDirectory
) -> None:
    # A fork would copy the locks of torch's threads in whatever state they are.
    spawn = get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_work, args=(theirs, directory), daemon=True)
    with without_interrupts():
        process.start()
    # With our copy closed, the pipe ends when the process does.
    theirs.close()
    ours.send(task)
    workers[ours] = _Worker(process, task)


def _failure_of(worker: _Worker) -> Failure:
    worker.process.join()
    code = worker.process.exitcode or 0
    how = f"by signal {-code}" if code < 0 else f"with code {code}"
    hint = "; memory may be short" if code == -signal.SIGKILL else ""
    return Failure(reason=f"the process that ran the fold ended {how}{hint}")


def _work(connection: Connection, directory: RunDirectory) -> None:
    """Run folds as they are sent, until the pipe is closed."""
    exit_with_parent()
    warnings.formatwarning = _one_line
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        connection.send(run_fold(task, directory, connection.send))


def _one_line(message: Warning | str, *_: object, **__: object) -> str:
    return f"lfds: warning: {' '.join(str(message).split())}\n"
