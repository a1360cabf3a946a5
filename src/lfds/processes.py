"""Tasks run in processes of their own, which report their progress.

Each process has a pipe of its own: one that is killed loses only the task it was running, and is
replaced.
"""

import os
import pickle
import signal
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread
from typing import Any, Generic, TypeVar

from lfds.interrupts import without_interrupts

Task = TypeVar("Task")
Step = TypeVar("Step")
End = TypeVar("End")
Work = Callable[[Task, Callable[[Step], None]], End]
"""What a process does with a task: it reports steps, and returns how the task ended."""


@dataclass(frozen=True)
class Died:
    """A process ended before its task did.

    Attributes:
        code: Its exit code; negative for a signal.
    """

    code: int

    @property
    def reason(self) -> str:
        """How it ended, as the end of a sentence about the process."""
        how = f"by signal {-self.code}" if self.code < 0 else f"with code {self.code}"
        return f"ended {how}{'; memory may be short' if self.code == -signal.SIGKILL else ''}"


def run_in_processes(
    tasks: Iterable[Task],
    work: Work[Task, Step, End],
    workers: int,
    on_step: Callable[[Task, Step], None],
    on_end: Callable[[Task, End | Died], None],
) -> None:
    """Run all tasks; both functions are called in the process and thread of the caller.

    Whatever ends this function, an error or an interrupt, no process is left.

    Args:
        tasks: They are sent to the processes, and so need to be picklable.
        work: Run in the processes; picklable.
        workers: Number of processes.
        on_step: Called with a task and each step that it reports.
        on_end: Called with a task and what ``work`` returned.
    """
    _Processes(deque(tasks), work, on_step, on_end).run(workers)


@dataclass
class _Worker(Generic[Task]):
    process: SpawnProcess
    task: Task


@dataclass
class _Processes(Generic[Task, Step, End]):
    queue: deque[Task]
    work: Work[Task, Step, End]
    on_step: Callable[[Task, Step], None]
    on_end: Callable[[Task, End | Died], None]

    def run(self, count: int) -> None:
        workers: dict[Connection, _Worker[Task]] = {}
        try:
            for _ in range(min(count, len(self.queue))):
                self._start(workers)
            while workers:
                for connection in wait(list(workers)):
                    assert isinstance(connection, Connection)
                    self._handle(workers, connection)
        finally:
            for worker in workers.values():
                worker.process.kill()
                worker.process.join()

    def _start(self, workers: dict[Connection, _Worker[Task]]) -> None:
        # A fork would copy the locks of torch's threads in whatever state they are.
        spawn = get_context("spawn")
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=_serve, args=(theirs, self.work), daemon=True)
        with without_interrupts():
            process.start()
        # With our copy closed, the pipe ends when the process does.
        theirs.close()
        workers[ours] = _Worker(process, self.queue.popleft())
        self._give(ours, workers[ours].task)

    def _give(self, connection: Connection, task: Task) -> None:
        with suppress(OSError):  # the process has died, which `run` finds out
            _send(connection, task)

    def _handle(self, workers: dict[Connection, _Worker[Task]], connection: Connection) -> None:
        """Handle one message of a worker, or its death; give it or a new worker the next task."""
        worker = workers[connection]
        try:
            ended, message = _receive(connection)
        except (EOFError, OSError):
            del workers[connection]
            worker.process.join()
            if self.queue:
                self._start(workers)
            self.on_end(worker.task, Died(worker.process.exitcode or 0))
            return
        if not ended:
            self.on_step(worker.task, message)
            return
        task = worker.task
        if self.queue:
            worker.task = self.queue.popleft()
            self._give(connection, worker.task)
        else:
            del workers[connection]
            connection.close()
            worker.process.join()
        self.on_end(task, message)


def _send(connection: Connection, message: object) -> None:
    # By value: multiprocessing would send tensors through shared memory, of which containers have
    # little.
    connection.send_bytes(pickle.dumps(message))


def _receive(connection: Connection) -> Any:
    return pickle.loads(connection.recv_bytes())


def _serve(connection: Connection, work: Work[Any, Any, Any]) -> None:
    """Run tasks as they are sent, until the pipe is closed."""
    exit_with_parent()
    warnings.formatwarning = _one_line
    while True:
        try:
            task = _receive(connection)
        except EOFError:
            return
        _send(connection, (True, work(task, lambda step: _send(connection, (False, step)))))


@contextmanager
def process_pool(workers: int, initializer: Callable[[], None]) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of spawned processes that are killed if an error or an interrupt ends the block.

    Args:
        workers: Number of processes.
        initializer: Called in each of them first.
    """
    # A fork would copy the locks of torch's threads, perhaps while they are held.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=initializer)
    try:
        yield pool
    except BaseException:
        # A pool waits for what its processes do, and even for their start. From Python 3.14 on
        # there is `kill_workers`.
        for process in list((getattr(pool, "_processes", None) or {}).values()):
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def exit_with_parent() -> None:
    """Make a worker process exit when the process that started it is killed."""
    parent = parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    Thread(target=follow, daemon=True).start()


def _one_line(message: Warning | str, *_: object, **__: object) -> str:
    return f"lfds: warning: {' '.join(str(message).split())}\n"
