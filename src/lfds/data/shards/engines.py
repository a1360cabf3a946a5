"""One function for many parts: by processes of this machine, or by Ray Data on a cluster.

The function writes its result to a file, completely or not at all, and returns something small.
What is done is a matter of the files alone: whoever is interrupted calls again for the parts whose
file is not there.
"""

import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from lfds import __version__
from lfds.config.messages import SpecError
from lfds.data.errors import DataError
from lfds.interrupts import without_interrupts
from lfds.processes import exit_with_parent, process_pool

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
# Parts that are handed out before they are needed, for each process.
_AHEAD = 2


@dataclass(frozen=True)
class Where:
    """Where parts are worked on.

    Attributes:
        workers: Processes of this machine; with several, a script needs
            ``if __name__ == "__main__":``. On a cluster, tasks at a time; 0 for as many as it has
            processors.
        ray: Address of a Ray cluster, as ``host:port`` or ``auto``; ``None`` for this machine.
    """

    workers: int = 1
    ray: str | None = None


HERE = Where()


def map_parts(
    function: Callable[[_Item], _Result], items: Iterable[_Item], where: Where = HERE
) -> Iterator[_Result]:
    """Yield the result of a function for each item, in any order.

    Args:
        function: Defined in a module, so that other processes can import it.
        items: Are taken when there is somebody to work on them; all at once on a cluster.
        where: Which processes call the function.

    Raises:
        DataError: What the function raised, or that a process was killed.
        SpecError: No cluster answers, or its workers cannot be used.
    """
    if where.ray is not None:
        every = list(items)
        if every:  # Ray refuses a dataset without rows
            yield from _on_ray(function, every, where)
    elif where.workers < 1:
        raise DataError(f"needs at least 1, not {where.workers}", source="workers")
    elif where.workers == 1:
        yield from map(function, items)
    else:
        yield from _by_processes(function, items, where.workers)


def _by_processes(
    function: Callable[[_Item], _Result], items: Iterable[_Item], workers: int
) -> Iterator[_Result]:
    waiting: deque[Future[_Result]] = deque()
    try:
        with process_pool(workers, _start_worker) as pool:
            for item in items:
                with without_interrupts():
                    waiting.append(pool.submit(function, item))
                if len(waiting) >= _AHEAD * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise DataError(
            "a process was killed: memory may be short, or the script has no "
            "'if __name__ == \"__main__\":'; run the same again, which goes on where it ended",
            source="workers",
        ) from error


def _start_worker() -> None:
    import torch

    exit_with_parent()
    torch.set_num_threads(1)  # sums depend on how they are split over threads


@dataclass(frozen=True)
class _Answer:
    """What a worker of a cluster returns: a result, or the one line that says what is wrong."""

    result: Any = None
    problem: str | None = None


class _Remote(Generic[_Item, _Result]):
    """Calls the function on a worker of a cluster, once for each row of a dataset of Ray."""

    def __init__(self, function: Callable[[_Item], _Result]) -> None:
        self._function, self._version = function, __version__

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        return {"answer": self._answer(row["item"])}

    def _answer(self, item: _Item) -> _Answer:
        import torch

        node = socket.gethostname()
        if __version__ != self._version:
            return _Answer(
                problem=f"ray: the node {node} has lfds {__version__}, and this one "
                f"{self._version}; install the same version on all nodes"
            )
        torch.set_num_threads(1)
        try:
            return _Answer(self._function(item))
        except (DataError, SpecError) as error:
            return _Answer(problem=f"{error} (on the node {node})")


def _on_ray(
    function: Callable[[_Item], _Result], items: list[_Item], where: Where
) -> Iterator[_Result]:
    assert where.ray is not None
    with connected(where.ray) as ray:
        try:
            yield from _answers(function, items, where.workers)
        except ray.exceptions.RayError as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise SpecError(
                f"ray: the cluster could not go on ({first}); run the same again, which goes on "
                f"where it ended"
            ) from error


def _answers(
    function: Callable[[_Item], _Result], items: list[_Item], workers: int
) -> Iterator[_Result]:
    from ray.data import DataContext, from_items

    settings = DataContext.get_current()
    settings.enable_progress_bars = False
    settings.print_on_execution_start = False
    rows = from_items([{"item": item} for item in items], override_num_blocks=len(items))
    limit: dict[str, Any] = {"concurrency": workers} if workers else {}
    for row in rows.map(_Remote(function), num_cpus=1, **limit).iter_rows():
        answer: _Answer = row["answer"]
        if answer.problem is not None:
            raise SpecError(answer.problem)
        yield answer.result


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Yield Ray, connected to a cluster; a connection that was made here ends with the block.

    Args:
        address: Of the cluster; with ``None`` nothing is connected.
    """
    if address is None:
        yield None
        return
    try:
        import ray
    except ImportError as error:
        raise SpecError("Ray is not installed; install it with: pip install 'lfds[ray]'") from error
    if ray.is_initialized():
        yield ray
        return
    try:
        check_reachable(address)
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (OSError, ValueError, RuntimeError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0].partition(". ")[0]
        raise SpecError(
            f"ray: no cluster answers at {address!r}; start one with: ray start --head ({first})"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def check_reachable(address: str) -> None:
    """Raise an OSError if nothing listens at ``host:port``; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=5).close()
