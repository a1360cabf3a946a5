"""Many graphs encoded: known ones from the cache, the others in parallel, with a progress bar."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from threading import Thread

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from lfds.data.encodings.adjacency import fingerprint
from lfds.data.encodings.base import StructuralEncoding
from lfds.data.encodings.cache import Encoded, EncodingCache
from lfds.data.errors import DataError

# Small enough that workers end together, large enough that sending costs little.
_NODES_PER_TASK = 4000
# Written to disk whenever this much is done: a killed run goes on from there.
_NUMBERS_PER_FILE = 2**19
_SECONDS_TO_START = 2.0

Task = list[tuple[str, csr_array]]


def encode_graphs(
    graphs: Sequence[csr_array],
    encoding: StructuralEncoding,
    *,
    workers: int = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> list[Encoded]:
    """Encode graphs, each distinct one once; the result does not depend on ``workers``.

    Args:
        graphs: Symmetric 0/1 adjacencies.
        encoding: What to compute.
        workers: Processes. With more than one, a script needs ``if __name__ == "__main__":``.
        cache: A folder to keep results in, and to look for them first.
        progress: Whether to show a bar on standard error.
    """
    if workers < 1:
        raise DataError(f"at least one process is needed, not {workers}", source="workers")
    names = [fingerprint(graph) for graph in graphs]
    store = None if cache is None else EncodingCache(cache, encoding)
    known = {} if store is None else store.read()
    missing = {name: graph for name, graph in zip(names, graphs, strict=True) if name not in known}
    with _bar(encoding.kind, len(missing), shown=progress) as advance, _kept(store) as keep:
        for encoded in _computed(_tasks(missing), encoding, workers):
            keep(encoded)
            known.update(encoded)
            advance(len(encoded))
    return [known[name] for name in names]


@contextmanager
def _kept(store: EncodingCache | None) -> Iterator[Callable[[dict[str, Encoded]], None]]:
    """Give a function that writes encodings to disk, some at a time; the last ones at the end."""
    fresh: dict[str, Encoded] = {}

    def write() -> None:
        if store is not None and fresh:
            store.store(fresh)
        fresh.clear()

    def keep(encoded: dict[str, Encoded]) -> None:
        fresh.update(encoded)
        if sum(rows.size for rows in fresh.values()) > _NUMBERS_PER_FILE:
            write()

    try:
        yield keep
    finally:  # what an interrupted run has done is not done again
        write()


def _tasks(missing: dict[str, csr_array]) -> list[Task]:
    """Share graphs out, the largest first, so that no worker begins a long one at the end."""
    tasks: list[Task] = []
    room = 0
    for name, graph in sorted(missing.items(), key=lambda item: (-item[1].shape[0], item[0])):
        if room <= 0:
            tasks.append([])
            room = _NODES_PER_TASK
        tasks[-1].append((name, graph))
        room -= graph.shape[0]
    return tasks


def _computed(
    tasks: list[Task], encoding: StructuralEncoding, workers: int
) -> Iterator[dict[str, Encoded]]:
    # Processes take seconds to start: short work is done before they would be ready.
    patience = time.monotonic() + _SECONDS_TO_START
    while tasks and (workers == 1 or time.monotonic() < patience):
        yield _encode(encoding, tasks.pop())
    if not tasks:
        return
    # A fork would copy the locks of torch's threads as they stand, perhaps held by nobody.
    spawn = get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawn, initializer=_end_with_parent) as pool:
        try:
            yield from _as_they_end({pool.submit(_encode, encoding, task) for task in tasks})
        except BrokenProcessPool as error:
            raise DataError(
                "a process that encoded graphs died: memory may be short, or the script that "
                "asked for several has no 'if __name__ == \"__main__\":'; use 1",
                source="workers",
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)


def _as_they_end(waiting: set[Future[dict[str, Encoded]]]) -> Iterator[dict[str, Encoded]]:
    while waiting:
        ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        for future in ended:
            yield future.result()


def _end_with_parent() -> None:
    """Let a worker end when the process that started it is killed, rather than wait for ever."""
    parent = parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    Thread(target=follow, daemon=True).start()


def _encode(encoding: StructuralEncoding, task: Task) -> dict[str, Encoded]:
    # Threads of BLAS gain nothing on such small matrices, and fight when there are processes.
    with threadpool_limits(1):
        return {name: encoding.encode(graph).astype(np.float32) for name, graph in task}


@contextmanager
def _bar(kind: str, total: int, *, shown: bool) -> Iterator[Callable[[int], None]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not shown) as bar:
        task = bar.add_task(f"{kind} of graphs", total=total)
        yield lambda done: bar.advance(task, done)
