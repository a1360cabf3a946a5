"""Graphs from JSON lines, one graph per line."""

from collections.abc import Iterator
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from lfds.config.budget import over_budget
from lfds.config.messages import choose_from
from lfds.config.strict_json import strict_json
from lfds.data.chunk import Chunk
from lfds.data.edges import both_directions
from lfds.data.errors import DataError, quoted, reading
from lfds.data.graphset import GraphSet
from lfds.data.node_order import shuffle_nodes
from lfds.data.readers.arrays import Array, check_size, graphs_from_arrays, without_features

# More nodes than this in one line is a mistake, and would exhaust the memory.
_MAX_NODES = 10_000_000
# A few bytes may announce nodes of which nothing is said: as many as these, and so many per edge.
_BARE_NODES, _BARE_NODES_PER_EDGE = 100_000, 100
# Every number is an object of Python.
_BYTES_PER_LETTER = 8
_Node = Annotated[int, Field(ge=0, lt=_MAX_NODES)]
_Int = Annotated[int, Field(ge=-(2**63), lt=2**63)]
_Float = Annotated[float, Field(ge=-3.4e38, le=3.4e38)]
_LABEL_TYPES = {type(None): "absent", str: "a name", int: "an integer", float: "a float"}


class Line(BaseModel):
    """One line: a graph; an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    nodes: Annotated[int, Field(ge=0, le=_MAX_NODES)] | None = None
    edges: list[tuple[_Node, _Node]] = []
    directed: bool = False
    features: list[list[_Float]] | None = None
    labels: list[_Int] | None = None
    edge_features: list[list[_Float]] | None = None
    label: str | _Int | _Float | list[_Float | None] | None = None

    @field_validator("label", mode="before")
    @classmethod
    def _fits_int64(cls, label: object) -> object:
        # pydantic would read an integer that is too large as a float, a regression target.
        if type(label) is int and not -(2**63) <= label < 2**63:
            raise PydanticCustomError(
                "int_range",
                "a class needs an integer of 64 bits; write regression targets with a point",
            )
        return label

    @property
    def size(self) -> int | None:
        """Number of nodes; ``None`` if the line does not determine it."""
        rows = self.features if self.features is not None else self.labels
        return self.nodes if self.nodes is not None or rows is None else len(rows)


_KEYS = [f'"{name}"'.encode() for name in Line.model_fields]


def read_jsonl(path: str | PathLike[str], *, seed: int | None = 0) -> GraphSet:
    """Read one graph per line.

    A line is an object such as
    ``{"nodes": 3, "edges": [[0, 1], [1, 2]], "features": [[1.0], [0.5], [2.0]], "label": "path"}``.

    - ``nodes``: number of nodes; may be left out with ``features`` or ``labels``.
    - ``edges``: pairs of node numbers from 0, taken in both directions; with
      ``"directed": true`` from the first to the second only.
    - ``features``: one list of numbers per node. ``labels``: one integer per node.
    - ``edge_features``: one list of numbers per pair of ``edges``.
    - ``label``: a name or integer is a class; a number with a point is a regression target, and a
      list of numbers several, ``null`` where one is missing. Left out in all lines for graphs
      without targets.

    Args:
        path: The file.
        seed: Seed of the random order of the nodes of each graph; ``None`` keeps their order.
    """
    file = Path(path)
    with reading(file):
        missing = over_budget(_BYTES_PER_LETTER * file.stat().st_size)
    if missing is not None:
        raise DataError(f"is so large that it {missing}; use fewer graphs", source=file)
    lines = dict(_numbered(file))
    if not lines:
        raise DataError("is empty; it needs one graph per line", source=file)
    _check_consistent(lines, file, {})
    graphs = without_features(_graphs(list(lines.values()), _targets(lines, file), file))
    return graphs if seed is None else shuffle_nodes(graphs, seed)


def stream_jsonl(path: str | PathLike[str], *, size: int) -> Iterator[Chunk]:
    """Yield graphs in chunks, without targets.

    A file of any length is read in the memory of one chunk. An invalid line raises an error when
    its chunk is reached.

    Args:
        path: The file, as for :func:`read_jsonl`.
        size: Most graphs of a chunk.
    """
    file = Path(path)
    seen: dict[str, tuple[str, int]] = {}
    numbered = (
        (number, line.model_copy(update={"label": None})) for number, line in _numbered(file)
    )
    empty = True
    while lines := dict(islice(numbered, size)):
        empty = False
        _check_consistent(lines, file, seen)
        graphs = _graphs(list(lines.values()), None, file)
        yield Chunk(without_features(graphs), list(lines), "line")
    if empty:
        raise DataError("is empty; it needs one graph per line", source=file)


def convert_jsonl(
    path: str | PathLike[str], *, size: int, after: int | None = None
) -> Iterator[Chunk]:
    """Yield graphs in chunks with their targets, in the memory of one chunk.

    Args:
        path: The file, as for :func:`read_jsonl`.
        size: Most graphs of a chunk.
        after: The last line that is left out; ``None`` to begin at the first.
    """
    file = Path(path)
    seen: dict[str, tuple[str, int]] = {}
    numbered = _numbered(file, after or 0)
    empty = after is None
    while lines := dict(islice(numbered, size)):
        empty = False
        _check_consistent(lines, file, seen)
        graphs = _graphs(list(lines.values()), _targets(lines, file), file)
        yield Chunk(without_features(graphs), list(lines), "line")
    if empty:
        raise DataError("is empty; it needs one graph per line", source=file)


def _name(file: Path) -> str:
    return file.name.split(".")[0] or "graphs"


def _numbered(file: Path, after: int = 0) -> Iterator[tuple[int, Line]]:
    """Yield the lines after a number of them; those before are not looked at."""
    with reading(file), file.open("rb") as content:
        for number, text in enumerate(content, start=1):
            if number > after and text.strip():
                yield number, _parsed(text, file, number)


def _parsed(text: bytes, file: Path, number: int) -> Line:
    try:
        line = Line.model_validate_json(text)
        # Looked for first: reading a line a second time takes as long as the first.
        if b"\\" in text or any(text.count(key) > 1 for key in _KEYS):
            strict_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        problem = f"{where}: {first['msg']}" if where else first["msg"]
        if first["type"] == "extra_forbidden":
            problem = f"no key is called {quoted(where)}; {choose_from(where, Line.model_fields)}"
        elif first["loc"][:1] == ("label",) and len(first["loc"]) > 1:  # none of several types fits
            problem = (
                "label needs a name, an integer, a number below 3.4e38, or a list of such numbers "
                f"with null for missing ones, not {quoted(first['input'])}"
            )
        raise DataError(problem, source=file, line=number) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"invalid JSON ({error})", source=file, line=number) from None
    contradiction = _too_many(line) or _contradiction(line)
    if contradiction is not None:
        raise DataError(contradiction, source=file, line=number)
    return line


def _too_many(line: Line) -> str | None:
    """Return that there are more nodes than a line can have that says nothing of them."""
    most = _BARE_NODES + _BARE_NODES_PER_EDGE * len(line.edges)
    if line.features is not None or line.labels is not None or (line.nodes or 0) <= most:
        return None
    return (
        f"announces {line.nodes:,} nodes with {len(line.edges):,} edges, and at most {most:,} "
        "without features or labels are read; give the nodes features or labels"
    )


def _contradiction(line: Line) -> str | None:
    """Return how two parts of a line contradict each other, if they do."""
    size = line.size
    if size is None:
        return "has an unknown number of nodes; give nodes, features or labels"
    for key, given in (("features", line.features), ("labels", line.labels)):
        if given is not None and len(given) != size:
            return f"{key} has {len(given)} entries for {size} nodes"
    if line.edge_features is not None and len(line.edge_features) != len(line.edges):
        return f"edge_features has {len(line.edge_features)} entries for {len(line.edges)} edges"
    for key, rows in (("features", line.features), ("edge_features", line.edge_features)):
        if len({len(row) for row in rows or []}) > 1:
            return f"{key} has lists of different lengths"
    highest = max((node for edge in line.edges for node in edge), default=-1)
    if highest >= size:
        return f"edges name node {highest}, but the nodes are 0 to {size - 1}"
    return None


def _check_consistent(lines: dict[int, Line], file: Path, seen: dict[str, tuple[str, int]]) -> None:
    """Raise unless all lines have the same keys with the same widths.

    Args:
        lines: Lines by number.
        file: For the message.
        seen: The form of each key, and the line that had it first; extended in place.
    """
    for number, line in lines.items():
        for key, form in _forms(line):
            need, first = seen.setdefault(key, (form, number))
            if form != need:
                raise DataError(
                    f"{key} is {form}, but {need} in line {first}; all lines need the same",
                    source=file,
                    line=number,
                )


def _forms(line: Line) -> Iterator[tuple[str, str]]:
    yield "labels", "absent" if line.labels is None else "present"
    for key, rows in (("features", line.features), ("edge_features", line.edge_features)):
        # A graph without nodes, or without edges, has any width.
        if rows != [] and (key == "features" or line.edges):
            yield key, "absent" if rows is None else f"of width {len(rows[0])}"
    if isinstance(line.label, list):
        yield "label", f"a list of {len(line.label)}"
    else:
        yield "label", _LABEL_TYPES[type(line.label)]


def _targets(lines: dict[int, Line], file: Path) -> Array | None:
    """Return the labels of consistent lines; missing ones of several are NaN."""
    labels = {number: line.label for number, line in lines.items()}
    first = next(iter(labels.values()))
    if first is None:
        return None
    if not isinstance(first, list):
        return np.array(list(labels.values()))
    for number, label in labels.items():
        if label == [None]:
            raise DataError(
                "label is the only target of the graph, and missing; leave that line out",
                source=file,
                line=number,
            )
    return np.array(list(labels.values()), dtype=np.float64)


def _graphs(lines: list[Line], y: Array | None, file: Path) -> GraphSet:
    sizes = [line.size or 0 for line in lines]
    check_size(sum(sizes), sum(2 * len(line.edges) for line in lines), file)
    first = np.cumsum([0, *sizes[:-1]])
    edges, edge_features = [], []
    for line, offset in zip(lines, first.tolist(), strict=True):
        pairs = np.array(line.edges, dtype=np.int64).reshape(-1, 2) + offset
        edges.append(pairs.T if line.directed else both_directions(pairs))
        if line.edge_features is not None:
            edge_features += line.edge_features * (1 if line.directed else 2)
    return graphs_from_arrays(
        sizes,
        np.concatenate(edges, axis=1),
        y,
        attributes=_rows([row for line in lines for row in line.features or []]),
        labels=_rows([value for line in lines for value in line.labels or []]),
        edge_attributes=_rows(edge_features),
        name=_name(file),
    )


def _rows(values: list[list[float]] | list[int]) -> Array | None:
    return np.array(values) if values else None
