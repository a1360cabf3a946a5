"""Graphs of any source, some at a time: a million of them in the memory of a few thousand."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lfds.data.errors import reading
from lfds.data.graphset import GraphSet
from lfds.data.readers.jsonl import stream_jsonl
from lfds.data.readers.smiles import Bad, stream_smiles
from lfds.data.sources import open_source

_GRAPHS_OF_A_PIECE = 4096


@dataclass(frozen=True)
class Piece:
    """Some graphs of a source.

    Attributes:
        graphs: Whose targets are not to be used.
        places: Where each stands in its source.
        counted: What a place is: the number of a ``line`` from 1, or of a ``graph`` from 0.
    """

    graphs: GraphSet
    places: list[int]
    counted: Literal["line", "graph"]


def stream_source(
    source: str, root: str | os.PathLike[str] = "data", *, bad: Bad = "stop"
) -> Iterator[Piece]:
    """Read the graphs of a name or a path, for something to be told of each.

    Lines of .jsonl and .csv files are read as they are needed, and saved sets are mapped from
    disk; other sources are read as a whole.

    Args:
        source: What :func:`lfds.data.sources.open_source` takes.
        root: Where datasets known by name are kept.
        bad: What a SMILES that cannot be read does to a .csv file.
    """
    place = Path(source)
    with reading(source):
        suffix = place.suffix.lower() if place.is_file() else ""
    if suffix in (".jsonl", ".ndjson") and bad == "stop":
        for lines, graphs in stream_jsonl(place, most=_GRAPHS_OF_A_PIECE):
            yield Piece(graphs, lines, "line")
    elif suffix == ".csv":
        for lines, graphs in stream_smiles(place, most=_GRAPHS_OF_A_PIECE, bad=bad):
            yield Piece(graphs, lines, "line")
    else:
        everything = open_source(source, root, bad=bad)
        for start in range(0, len(everything), _GRAPHS_OF_A_PIECE):
            stop = min(start + _GRAPHS_OF_A_PIECE, len(everything))
            yield Piece(everything[start:stop], list(range(start, stop)), "graph")
