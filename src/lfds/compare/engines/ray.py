"""Folds run on a Ray cluster whose nodes share the folder of results.

Where a node is lost, Ray restarts its folds on others; they resume from their checkpoints, to the
same bits.
"""

import socket
from collections.abc import Iterable
from typing import Any, final

from lfds.compare.engines.local import Engine, OnEnd, OnStep
from lfds.compare.fold import RunDirectory, Step, run_fold
from lfds.compare.task import FoldTask
from lfds.config.messages import SpecError
from lfds.results.record import Failure, Outcome

_POLL_SECONDS = 0.5
_MAX_RETRIES = 3


class StepCollector:
    """Collects the steps of all nodes for the driver."""

    def __init__(self) -> None:
        self._steps: list[Step] = []

    def add(self, step: Step) -> None:
        """Add a step."""
        self._steps.append(step)

    def take(self) -> list[Step]:
        """Return the steps since the last call."""
        steps, self._steps = self._steps, []
        return steps


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
            raise SpecError(
                "Ray is not installed; install it with: pip install 'lfds[ray]'"
            ) from error
        self._ray: Any = ray
        self._address = address

    def run(
        self, tasks: Iterable[FoldTask], directory: RunDirectory, on_step: OnStep, on_end: OnEnd
    ) -> None:
        connects = not self._ray.is_initialized()
        if connects:
            self._connect()
        try:
            self._run(list(tasks), directory, on_step, on_end)
        finally:
            if connects:
                self._ray.shutdown()

    def _connect(self) -> None:
        try:
            _check_reachable(self._address)
            self._ray.init(address=self._address, log_to_driver=False)
        except (OSError, ValueError, RuntimeError) as error:
            raise SpecError(
                f"ray: no cluster answers at {self._address!r}; "
                f"start one with: ray start --head ({error})"
            ) from error

    def _run(
        self, tasks: list[FoldTask], directory: RunDirectory, on_step: OnStep, on_end: OnEnd
    ) -> None:
        ray = self._ray
        collector = ray.remote(StepCollector).options(num_cpus=0).remote()
        run = ray.remote(_run_on_node).options(num_cpus=1, max_retries=_MAX_RETRIES)
        absolute = RunDirectory(directory.folder.resolve(), directory.patience)
        running = {
            run.remote(task.with_absolute_paths(), absolute, collector): task for task in tasks
        }
        by_key = {task.key: task for task in tasks}
        while running:
            ended, _ = ray.wait(list(running), timeout=_POLL_SECONDS)
            for step in self._steps_from(collector):
                on_step(by_key[step.key], step)
            for reference in ended:
                on_end(running.pop(reference), self._result_of(reference))

    def _steps_from(self, collector: Any) -> list[Step]:
        """Return the new steps; where the collector is lost, only the display suffers."""
        try:
            steps: list[Step] = self._ray.get(collector.take.remote())
        except self._ray.exceptions.RayError:
            return []
        return steps

    def _result_of(self, reference: Any) -> Outcome | Failure:
        try:
            result: Outcome | Failure = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            lines = str(error).splitlines() or [type(error).__name__]
            return Failure(reason=f"Ray could not run the fold: {lines[0]}", traceback=str(error))
        return result


def _check_reachable(address: str) -> None:
    """Raise an OSError if nothing listens at ``host:port``; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=5).close()


def _run_on_node(task: FoldTask, directory: RunDirectory, collector: Any) -> Outcome | Failure:
    # Steps are sent without waiting for an answer.
    return run_fold(task, directory, lambda step: collector.add.remote(step) and None)
