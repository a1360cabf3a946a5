"""From files of any format to a sharded set, in one pass and in bounded memory."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Unpack

from lfds.config.registry import READERS, load
from lfds.data.chunk import Chunk
from lfds.data.errors import DataError, reading
from lfds.data.node_order import NodeOrder
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.data.shards.writer import GRAPHS_PER_PART, ShardWriter
from lfds.data.sources import (
    CHUNK_SIZE,
    ReadOptions,
    format_of,
    is_path,
    open_source,
    places_of,
    reader_options,
    source_state,
)

# A chunk that divides a part has all of its counts in the same part.
_LEAST_CHUNK = 256


def convert(
    source: str,
    out: str | os.PathLike[str],
    *,
    root: str | os.PathLike[str] = "data",
    graphs_per_part: int = GRAPHS_PER_PART,
    append: bool = False,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
    **options: Unpack[ReadOptions],
) -> ShardedGraphSet:
    """Write the graphs of a dataset or a path to a sharded set, and open it.

    Files whose format can be streamed are read a piece at a time; others at once. The graphs, and
    the order of their nodes, are those of :func:`lfds.data.read_any`. Called again after an
    interruption, it goes on after the last part that was written.

    Args:
        source: As for :func:`lfds.data.sources.open_source`.
        out: A new folder, or with ``append`` the folder of a sharded set.
        root: Folder of the datasets.
        graphs_per_part: Most graphs of a part.
        append: Whether to append to the set in ``out``.
        seed: Seed of the random order of the nodes of each graph.
        progress: Called with the number of graphs after each piece.
        **options: Options of the reader, for files that have them.
    """
    writer = ShardWriter(
        out,
        graphs_per_part=graphs_per_part,
        append=append,
        source=_identity(source, root, seed, graphs_per_part, options),
    )
    _check_apart(source, root, Path(out))
    with writer:
        size = _chunk_size(graphs_per_part)
        for chunk in _chunks(source, root, seed, size, writer, options):
            writer.add(chunk.graphs.in_memory(), chunk.positions, add_counts=True)
            if progress is not None:
                progress(len(chunk.positions))
    return ShardedGraphSet(out)


def _chunks(
    source: str,
    root: str | os.PathLike[str],
    seed: int,
    size: int,
    writer: ShardWriter,
    options: ReadOptions,
) -> Iterator[Chunk]:
    """Yield the graphs that are not stored yet."""
    path = Path(source)
    entry = READERS[format_of(path)] if is_path(source) else None
    # The files of a TU dataset are read side by side, which those of an archive cannot be.
    archive = entry is not None and entry.detect is not None and path.is_file()
    if entry is not None and entry.convert is not None and not archive:
        given = reader_options(entry, path, options)
        order: NodeOrder | None = None
        after = writer.position
        for chunk in load(entry.convert)(path, size=size, after=after, **given):
            if order is None:
                order = NodeOrder(seed, chunk.graphs.name, skip=writer.stored_nodes)
            yield Chunk(order.shuffle(chunk.graphs), chunk.positions, chunk.unit)
        return
    everything = open_source(source, root, **options)
    first = 0 if writer.position is None else writer.position + 1
    for start in range(first, len(everything), size):
        stop = min(start + size, len(everything))
        yield Chunk(everything[start:stop], list(range(start, stop)), "graph")


def _chunk_size(graphs_per_part: int) -> int:
    if graphs_per_part <= CHUNK_SIZE:
        return max(graphs_per_part, 1)
    sizes = (size for size in range(CHUNK_SIZE, _LEAST_CHUNK, -1) if graphs_per_part % size == 0)
    return next(sizes, CHUNK_SIZE)


def _identity(
    source: str,
    root: str | os.PathLike[str],
    seed: int,
    graphs_per_part: int,
    options: ReadOptions,
) -> str:
    """Return a hash of what is converted and how."""
    with reading(source):
        states = [source_state(place) for place in places_of(source, root)]
    facts: dict[str, Any] = {
        "source": os.path.abspath(source) if is_path(source) else source,
        "states": states,
        "seed": seed,
        "graphs_per_part": graphs_per_part,
        "options": dict(options),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:24]


def _check_apart(source: str, root: str | os.PathLike[str], out: Path) -> None:
    """Raise if the set would be written into its source."""
    real = Path(os.path.realpath(out))
    there = [path for path in (real, *real.parents) if path.exists()]
    for place in places_of(source, root):
        if place.exists() and any(path.samefile(place) for path in there):
            raise DataError("is the source itself, or in it; choose a new folder", source=out)
