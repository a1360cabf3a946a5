"""Many folds run, here or by several processes; who runs what when changes no bit of the results.

Each process has a pipe of its own to the one that started it: one that is killed takes nothing
with it but the fold it was running, and its place is taken by another.
"""

import os
import signal
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread
from typing import final

from lfds.compare.fold import RunDirectory, Step, run_fold
from lfds.compare.task import FoldTask
from lfds.results.record import Failure, Outcome

OnStep = Callable[[FoldTask, Step], None]
OnEnd = Callable[[FoldTask, Outcome | Failure], None]


class Engine(ABC):
    """Runs folds somewhere."""

    @abstractmethod
    def run(
        self, tasks: Iterable[FoldTask], place: RunDirectory, on_step: OnStep, on_end: OnEnd
    ) -> None:
        """Run all tasks; both functions are called in the process and thread of the caller."""


@final
class SerialEngine(Engine):
    """One fold after the other, in this process."""

    def run(
        self, tasks: Iterable[FoldTask], place: RunDirectory, on_step: OnStep, on_end: OnEnd
    ) -> None:
        for task in tasks:
            on_end(task, run_fold(task, place, partial(on_step, task)))


@final
class Processes(Engine):
    """Several folds at a time, each in a process with one thread.

    Args:
        workers: How many processes.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(
        self, tasks: Iterable[FoldTask], place: RunDirectory, on_step: OnStep, on_end: OnEnd
    ) -> None:
        waiting = deque(tasks)
        crew: dict[Connection, _Worker] = {}
        try:
            for _ in range(min(self.workers, len(waiting))):
                _hire(crew, waiting.popleft(), place)
            while crew:
                for connection in wait(list(crew)):
                    assert isinstance(connection, Connection)
                    self._hear(crew, connection, waiting, place, on_step, on_end)
        finally:
            for worker in crew.values():
                worker.process.kill()
                worker.process.join()

    def _hear(
        self,
        crew: dict[Connection, "_Worker"],
        connection: Connection,
        waiting: deque[FoldTask],
        place: RunDirectory,
        on_step: OnStep,
        on_end: OnEnd,
    ) -> None:
        worker = crew[connection]
        try:
            message = connection.recv()
        except (EOFError, OSError):
            message = _end_of(crew.pop(connection))
            if waiting:
                _hire(crew, waiting.popleft(), place)
            on_end(worker.task, message)
            return
        if isinstance(message, Step):
            on_step(worker.task, message)
            return
        ended = worker.task
        if waiting:
            worker.task = waiting.popleft()
            connection.send(worker.task)
        else:
            del crew[connection]
            connection.close()
            worker.process.join()
        on_end(ended, message)


def engine_for(workers: int) -> Engine:
    """Return the engine for a number of workers."""
    return SerialEngine() if workers == 1 else Processes(workers)


@dataclass
class _Worker:
    process: SpawnProcess
    task: FoldTask


def _hire(crew: dict[Connection, _Worker], task: FoldTask, place: RunDirectory) -> None:
    # A fork would copy the locks of torch's threads as they stand, perhaps held by nobody.
    spawn = get_context("spawn")
    mine, theirs = spawn.Pipe()
    process = spawn.Process(target=_work, args=(theirs, place), daemon=True)
    process.start()
    # With our copy closed, the pipe ends when the process does.
    theirs.close()
    mine.send(task)
    crew[mine] = _Worker(process, task)


def _end_of(worker: _Worker) -> Failure:
    worker.process.join()
    code = worker.process.exitcode or 0
    how = f"by signal {-code}" if code < 0 else f"with code {code}"
    hint = "; memory may be short" if code == -signal.SIGKILL else ""
    return Failure(reason=f"the process that ran the fold ended {how}{hint}")


def _work(connection: Connection, place: RunDirectory) -> None:
    """Run folds as they are sent, until the pipe is closed."""
    # A Ctrl-C reaches every process of a terminal; the one that started us decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        connection.send(run_fold(task, place, connection.send))


def _end_with_parent() -> None:
    """Let a worker end when the process that started it is killed, rather than work in vain."""
    parent = parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    Thread(target=follow, daemon=True).start()
