"""Graphs of any source in chunks, so that a large file needs little memory."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lfds.config.registry import READERS, load
from lfds.data.errors import reading
from lfds.data.graphset import GraphSet
from lfds.data.readers.smiles import Bad
from lfds.data.sources import format_of, is_path, open_source, reader_options

CHUNK_SIZE = 4096
"""Most graphs of a chunk, unless given."""


@dataclass(frozen=True)
class Chunk:
    """Some graphs of a source.

    Attributes:
        graphs: The graphs; their targets must not be used.
        positions: The position of each graph in its source.
        unit: What a position counts: a ``line`` from 1, or a ``graph`` from 0.
    """

    graphs: GraphSet
    positions: list[int]
    unit: Literal["line", "graph"]


def stream_source(
    source: str,
    root: str | os.PathLike[str] = "data",
    *,
    bad: Bad = "stop",
    size: int | None = None,
) -> Iterator[Chunk]:
    """Yield the graphs of a dataset or a path in chunks, for prediction.

    Files whose format can be streamed are read line by line, and saved sets are mapped from disk;
    other sources are read at once.

    Args:
        source: As for :func:`lfds.data.sources.open_source`.
        root: Folder of the datasets.
        bad: Whether an invalid SMILES raises an error (``"stop"``) or is skipped.
        size: Most graphs of a chunk; ``None`` for the default.
    """
    size = CHUNK_SIZE if size is None else size
    path = Path(source)
    if is_path(source):
        with reading(source):
            entry = READERS[format_of(path)]
        if entry.stream is not None:
            options = reader_options(entry, path, target=None, bad=bad)
            for lines, graphs in load(entry.stream)(path, size=size, **options):
                yield Chunk(graphs, lines, "line")
            return
    everything = open_source(source, root, bad=bad)
    for start in range(0, len(everything), size):
        stop = min(start + size, len(everything))
        yield Chunk(everything[start:stop], list(range(start, stop)), "graph")
