"""Folds run on a Ray cluster whose nodes share the folder of results.

A node that is lost costs the epochs since the last checkpoint: Ray starts its folds again
elsewhere, and they go on to the same bits.
"""

import socket
from collections.abc import Iterable
from typing import Any, final

from lfds.compare.engines.local import Engine, OnEnd, OnStep
from lfds.compare.fold import RunDirectory, Step, run_fold
from lfds.compare.task import FoldTask
from lfds.config.errors import SpecError
from lfds.results.record import Failure, Outcome

_SECONDS_BETWEEN_LOOKS = 0.5
_STARTS_ANEW = 3


class Ear:
    """Hears of epochs from all nodes, and is asked for them now and then."""

    def __init__(self) -> None:
        self._heard: list[Step] = []

    def hear(self, step: Step) -> None:
        """Remember a step."""
        self._heard.append(step)

    def take(self) -> list[Step]:
        """Return what was heard since the last time."""
        heard, self._heard = self._heard, []
        return heard


@final
class RayEngine(Engine):
    """As many folds at a time as a Ray cluster has processors.

    Args:
        address: Of the cluster, as ``host:port`` or ``auto``.
    """

    def __init__(self, address: str) -> None:
        try:
            import ray
        except ImportError as error:
            raise SpecError("--ray needs Ray; install it with: pip install 'lfds[ray]'") from error
        self._ray: Any = ray
        self._address = address

    def run(
        self, tasks: Iterable[FoldTask], place: RunDirectory, on_step: OnStep, on_end: OnEnd
    ) -> None:
        mine = not self._ray.is_initialized()
        if mine:
            self._connect()
        try:
            self._run(list(tasks), place, on_step, on_end)
        finally:
            if mine:
                self._ray.shutdown()

    def _connect(self) -> None:
        try:
            _knock(self._address)
            self._ray.init(address=self._address, log_to_driver=False)
        except (OSError, ValueError, RuntimeError) as error:
            raise SpecError(
                f"--ray: no cluster answers at {self._address!r}; "
                f"start one with: ray start --head ({error})"
            ) from error

    def _run(
        self, tasks: list[FoldTask], place: RunDirectory, on_step: OnStep, on_end: OnEnd
    ) -> None:
        ray = self._ray
        ear = ray.remote(Ear).options(num_cpus=0).remote()
        run = ray.remote(_run_on_node).options(num_cpus=1, max_retries=_STARTS_ANEW)
        here = RunDirectory(place.folder.resolve(), place.patience)
        waiting = {run.remote(task.at_home(), here, ear): task for task in tasks}
        by_key = {task.key: task for task in tasks}
        while waiting:
            ended, _ = ray.wait(list(waiting), timeout=_SECONDS_BETWEEN_LOOKS)
            for step in self._asked(ear):
                on_step(by_key[step.key], step)
            for one in ended:
                on_end(waiting.pop(one), self._end_of(one))

    def _asked(self, ear: Any) -> list[Step]:
        """Return the steps there were; a lost ear costs the display and nothing else."""
        try:
            heard: list[Step] = self._ray.get(ear.take.remote())
        except self._ray.exceptions.RayError:
            return []
        return heard

    def _end_of(self, one: Any) -> Outcome | Failure:
        try:
            end: Outcome | Failure = self._ray.get(one)
        except self._ray.exceptions.RayError as error:
            lines = str(error).splitlines() or [type(error).__name__]
            return Failure(reason=f"Ray could not run the fold: {lines[0]}", traceback=str(error))
        return end


def _knock(address: str) -> None:
    """Raise an OSError where nobody is at ``host:port``; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=5).close()


def _run_on_node(task: FoldTask, place: RunDirectory, ear: Any) -> Outcome | Failure:
    # Nobody waits for what is told.
    return run_fold(task, place, lambda step: ear.hear.remote(step) and None)
