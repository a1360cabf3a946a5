"""Some graphs of a source, and the rows between them that could not be read."""

from dataclasses import dataclass
from typing import Literal

from lfds.data.graphset import GraphSet


@dataclass(frozen=True)
class SkippedRow:
    """A row without a graph.

    Attributes:
        position: Its position in the source.
        text: What it holds instead of a graph.
        reason: Why it was skipped.
        kept: Its cells of the columns that are kept.
        lacks: What it has not: a molecule, or a target.
    """

    position: int
    text: str
    reason: str
    kept: tuple[str, ...] = ()
    lacks: Literal["molecule", "target"] = "molecule"


@dataclass(frozen=True)
class Chunk:
    """Some graphs of a source.

    Attributes:
        graphs: The graphs; targets of a stream for prediction must not be used.
        positions: The position of each graph in its source.
        unit: What a position counts: a ``line`` from 1, or a ``graph`` from 0.
        texts: What each graph was made from, such as its SMILES; empty for other formats.
        skipped: Rows between these graphs that were skipped.
        kept_names: Names of columns that are kept beside the predictions.
        kept: The cells of each graph in these columns.
    """

    graphs: GraphSet
    positions: list[int]
    unit: Literal["line", "graph"]
    texts: tuple[str, ...] = ()
    skipped: tuple[SkippedRow, ...] = ()
    kept_names: tuple[str, ...] = ()
    kept: tuple[tuple[str, ...], ...] = ()
