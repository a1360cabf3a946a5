"""Graphs as JSON lines: one graph per line, checked by line."""

from collections.abc import Iterable, Iterator
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from lfds.data.errors import DataError, reading
from lfds.data.graphset import GraphSet
from lfds.data.node_order import with_shuffled_nodes
from lfds.data.readers.arrays import Given, graphs_from_arrays, not_yet_encoded

# More nodes than this in one line is a slip of the pen, and would fill the memory.
_MOST_NODES = 10_000_000
_Node = Annotated[int, Field(ge=0, lt=_MOST_NODES)]
_Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]
_Amount = Annotated[float, Field(ge=-3.4e38, le=3.4e38)]
_LABEL_KINDS = {type(None): "absent", str: "a name", int: "a class", float: "a quantity"}


class Line(BaseModel):
    """One graph as a line spells it; a misspelt key is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    nodes: Annotated[int, Field(ge=0, le=_MOST_NODES)] | None = None
    edges: list[tuple[_Node, _Node]] = []
    directed: bool = False
    features: list[list[_Amount]] | None = None
    labels: list[_Whole] | None = None
    edge_features: list[list[_Amount]] | None = None
    label: str | _Whole | _Amount | list[_Amount] | None = None

    @field_validator("label", mode="before")
    @classmethod
    def _whole_labels_fit(cls, label: object) -> object:
        # Left to itself a class too large to be kept would turn into a quantity.
        if type(label) is int and not -(2**63) <= label < 2**63:
            raise PydanticCustomError(
                "whole_range",
                "a class needs a whole number of 64 bits; write a quantity with a point",
            )
        return label

    @property
    def size(self) -> int | None:
        """How many nodes the graph has, or ``None`` where the line does not tell."""
        known = self.features if self.features is not None else self.labels
        return self.nodes if self.nodes is not None or known is None else len(known)


def read_jsonl(path: str | PathLike[str], *, seed: int | None = 0) -> GraphSet:
    """Read one graph per line.

    A line is an object such as
    ``{"nodes": 3, "edges": [[0, 1], [1, 2]], "features": [[1.0], [0.5], [2.0]], "label": "path"}``.

    - ``nodes``: how many; may be left out where ``features`` or ``labels`` tell.
    - ``edges``: pairs of node numbers from 0; each is taken in both directions,
      unless the line says ``"directed": true``, then from the first to the second.
    - ``features``: one list of numbers per node. ``labels``: one whole number per node.
    - ``edge_features``: one list of numbers per pair of ``edges``.
    - ``label``: a name or whole number is a class; a number with a point, or a list of them, is
      regressed. Left out in all lines for graphs yet to be predicted.

    Args:
        path: The file.
        seed: Root of the random order of the nodes of each graph; ``None`` leaves them.
    """
    file = Path(path)
    lines = dict(_numbered(file))
    if not lines:
        raise DataError("is empty; it needs one graph per line", source=file)
    _check_alike(lines, file, {})
    y = None if next(iter(lines.values())).label is None else _targets(lines.values())
    graphs = not_yet_encoded(_gathered(list(lines.values()), y, _name(file)))
    return graphs if seed is None else with_shuffled_nodes(graphs, seed)


def stream_jsonl(path: str | PathLike[str], *, most: int) -> Iterator[tuple[list[int], GraphSet]]:
    """Read some graphs at a time, without their targets, each piece with the lines it is from.

    A file of any length is read in the memory of a piece. What is wrong in a line is known when
    its piece is reached.

    Args:
        path: The file, as :func:`read_jsonl` takes it.
        most: Graphs of a piece, at most.
    """
    file = Path(path)
    known: dict[str, tuple[str, int]] = {}
    numbered = (
        (number, line.model_copy(update={"label": None})) for number, line in _numbered(file)
    )
    empty = True
    while lines := dict(islice(numbered, most)):
        empty = False
        _check_alike(lines, file, known)
        yield list(lines), not_yet_encoded(_gathered(list(lines.values()), None, _name(file)))
    if empty:
        raise DataError("is empty; it needs one graph per line", source=file)


def _name(file: Path) -> str:
    return file.name.split(".")[0] or "graphs"


def _numbered(file: Path) -> Iterator[tuple[int, Line]]:
    with reading(file), file.open("rb") as content:
        for number, text in enumerate(content, start=1):
            if text.strip():
                yield number, _parsed(text, file, number)


def _parsed(text: bytes, file: Path, number: int) -> Line:
    try:
        line = Line.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        problem = f"{where}: {first['msg']}" if where else first["msg"]
        raise DataError(problem, source=file, line=number) from None
    disagreement = _disagreement(line)
    if disagreement is not None:
        raise DataError(disagreement, source=file, line=number)
    return line


def _disagreement(line: Line) -> str | None:
    """Return what two parts of a line say differently, if anything."""
    size = line.size
    if size is None:
        return "does not say how many nodes there are; give nodes, features or labels"
    for key, known in (("features", line.features), ("labels", line.labels)):
        if known is not None and len(known) != size:
            return f"{key} has {len(known)} entries for {size} nodes"
    if line.edge_features is not None and len(line.edge_features) != len(line.edges):
        return f"edge_features has {len(line.edge_features)} entries for {len(line.edges)} edges"
    for key, rows in (("features", line.features), ("edge_features", line.edge_features)):
        if len({len(row) for row in rows or []}) > 1:
            return f"{key} has lists of different lengths"
    highest = max((node for edge in line.edges for node in edge), default=-1)
    if highest >= size:
        return f"edges name node {highest}, but the nodes are 0 to {size - 1}"
    return None


def _check_alike(lines: dict[int, Line], file: Path, first: dict[str, tuple[str, int]]) -> None:
    """Raise unless all lines know the same things in the same width.

    Args:
        lines: By their numbers.
        file: For the message.
        first: What earlier lines were found to know, and where; is added to.
    """
    for number, line in lines.items():
        for key, kind in _kinds(line):
            wanted, there = first.setdefault(key, (kind, number))
            if kind != wanted:
                raise DataError(
                    f"{key} is {kind}, but {wanted} in line {there}; all lines need the same",
                    source=file,
                    line=number,
                )


def _kinds(line: Line) -> Iterator[tuple[str, str]]:
    yield "labels", "absent" if line.labels is None else "present"
    for key, rows in (("features", line.features), ("edge_features", line.edge_features)):
        # A graph without nodes, or without edges, goes with any width.
        if rows != []:
            yield key, "absent" if rows is None else f"of width {len(rows[0])}"
    if isinstance(line.label, list):
        yield "label", f"a list of {len(line.label)}"
    else:
        yield "label", _LABEL_KINDS[type(line.label)]


def _targets(lines: Iterable[Line]) -> Given:
    return np.array([line.label for line in lines])


def _gathered(lines: list[Line], y: Given | None, name: str) -> GraphSet:
    sizes = [line.size or 0 for line in lines]
    first = np.cumsum([0, *sizes[:-1]])
    edges, known = [], []
    for line, offset in zip(lines, first.tolist(), strict=True):
        pairs = np.array(line.edges, dtype=np.int64).reshape(-1, 2).T + offset
        backwards = pairs[::-1] if not line.directed else pairs[:, :0]
        edges.append(np.concatenate([pairs, backwards], axis=1))
        if line.edge_features is not None:
            known += line.edge_features * (1 if line.directed else 2)
    return graphs_from_arrays(
        sizes,
        np.concatenate(edges, axis=1),
        y,
        attributes=_rows([row for line in lines for row in line.features or []]),
        labels=_rows([value for line in lines for value in line.labels or []]),
        edge_attributes=_rows(known),
        name=name,
    )


def _rows(values: list[list[float]] | list[int]) -> Given | None:
    return np.array(values) if values else None
