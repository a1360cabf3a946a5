"""Structural encodings of many graphs: from the cache, or computed in parallel."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from lfds.data.edges import adjacency
from lfds.data.encodings.base import StructuralEncoding, fingerprint
from lfds.data.encodings.cache import Encoded, EncodingCache
from lfds.data.errors import DataError

# The processes that run this module need no torch and start faster without it.
if TYPE_CHECKING:
    from torch import Tensor

    from lfds.data.graphset import GraphSet
from lfds.interrupts import without_interrupts
from lfds.processes import exit_with_parent, process_pool

# Small enough that all workers finish together, large enough that sending costs little.
_NODES_PER_TASK = 4000
# Numbers after which results are written to disk, so that a killed run resumes there.
_NUMBERS_PER_FILE = 2**19
_SECONDS_TO_START = 2.0

Task = list[tuple[str, csr_array]]


def structural_features(
    graphs: "GraphSet",
    encodings: Sequence[StructuralEncoding],
    *,
    workers: int = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> "Tensor":
    """Return the encodings of all nodes side by side, ``[nodes, features]``.

    The rows of a graph do not depend on the other graphs of the set.

    Args:
        graphs: The set.
        encodings: The encodings to compute.
        workers: Number of processes; with several, a script needs ``if __name__ == "__main__":``.
        cache: Folder of cached encodings; ``None`` caches nothing.
        progress: Whether to show a progress bar on standard error.
    """
    import torch

    columns = [torch.empty(graphs.num_nodes, 0)]
    parts = adjacencies(graphs) if encodings else []
    for encoding in encodings:
        rows = encode_graphs(parts, encoding, workers=workers, cache=cache, progress=progress)
        columns.append(torch.cat([torch.empty(0, encoding.width), *map(torch.from_numpy, rows)]))
    return torch.cat(columns, dim=1)


def adjacencies(graphs: "GraphSet") -> list[csr_array]:
    """Return the undirected simple adjacency of each graph."""
    edge_ptr, edge_dst = graphs.edge_ptr.numpy(), graphs.edge_dst.numpy()
    found = []
    for low, high in pairwise(graphs.ptr.tolist()):
        rows = edge_ptr[low : high + 1]
        found.append(adjacency(rows - rows[0], edge_dst[rows[0] : rows[-1]]))
    return found


def encode_graphs(
    graphs: Sequence[csr_array],
    encoding: StructuralEncoding,
    *,
    workers: int = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> list[Encoded]:
    """Encode graphs, equal ones only once; the result does not depend on ``workers``.

    Args:
        graphs: Symmetric 0/1 adjacencies.
        encoding: The encoding to compute.
        workers: Number of processes; with several, a script needs ``if __name__ == "__main__":``.
        cache: Folder of cached encodings; ``None`` caches nothing.
        progress: Whether to show a progress bar on standard error.
    """
    if workers < 1:
        raise DataError(f"needs at least 1, not {workers}", source="workers")
    names = [fingerprint(graph) for graph in graphs]
    store = None if cache is None else EncodingCache(cache, encoding)
    done = {} if store is None else store.read()
    missing = {name: graph for name, graph in zip(names, graphs, strict=True) if name not in done}
    with _bar(encoding.kind, len(missing), shown=progress) as advance, _writer(store) as write:
        for encoded in _compute(_tasks(missing), encoding, workers):
            write(encoded)
            done.update(encoded)
            advance(len(encoded))
    return [done[name] for name in names]


@contextmanager
def _writer(store: EncodingCache | None) -> Iterator[Callable[[dict[str, Encoded]], None]]:
    """Return a function that stores encodings, many in one file; the rest at the end."""
    pending: dict[str, Encoded] = {}

    def flush() -> None:
        if store is not None and pending:
            store.store(pending)
        pending.clear()

    def write(encoded: dict[str, Encoded]) -> None:
        pending.update(encoded)
        if sum(rows.size for rows in pending.values()) > _NUMBERS_PER_FILE:
            flush()

    try:
        yield write
    finally:  # after an interrupt as well
        flush()


def _tasks(missing: dict[str, csr_array]) -> list[Task]:
    """Group graphs into tasks by size, the largest graphs first."""
    tasks: list[Task] = []
    left = 0
    for name, graph in sorted(missing.items(), key=lambda item: (-item[1].shape[0], item[0])):
        if left <= 0:
            tasks.append([])
            left = _NODES_PER_TASK
        tasks[-1].append((name, graph))
        left -= graph.shape[0]
    return tasks


def _compute(
    tasks: list[Task], encoding: StructuralEncoding, workers: int
) -> Iterator[dict[str, Encoded]]:
    # Processes take seconds to start: short work is done before they would be ready.
    start_processes = time.monotonic() + _SECONDS_TO_START
    while tasks and (workers == 1 or time.monotonic() < start_processes):
        yield _encode(encoding, tasks.pop())
    if not tasks:
        return
    try:
        with process_pool(workers, exit_with_parent) as pool:
            with without_interrupts():
                futures = {pool.submit(_encode, encoding, task) for task in tasks}
            for future in as_completed(futures):
                yield future.result()
    except BrokenProcessPool as error:
        raise DataError(
            "a process that encoded graphs was killed: memory may be short, or the script "
            "has no 'if __name__ == \"__main__\":'; use 1",
            source="workers",
        ) from error


def _encode(encoding: StructuralEncoding, task: Task) -> dict[str, Encoded]:
    # BLAS threads gain nothing on such small matrices, and compete with other processes.
    with threadpool_limits(1):
        return {name: encoding.encode(graph).astype(np.float32) for name, graph in task}


@contextmanager
def _bar(kind: str, total: int, *, shown: bool) -> Iterator[Callable[[int], None]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not shown) as bar:
        task = bar.add_task(f"{kind} of graphs", total=total)
        yield lambda done: bar.advance(task, done)
