"""A TU dataset in chunks: its text files are read side by side, some graphs at a time."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from numpy.typing import NDArray

from lfds.data.chunk import Chunk
from lfds.data.edges import Ints
from lfds.data.errors import DataError, reading
from lfds.data.graphset import GraphSet
from lfds.data.readers.arrays import graphs_from_arrays, targets_from, without_features
from lfds.data.readers.tables import float_table, int_table
from lfds.data.readers.tu_files import Names, RawFiles, find_parts, read_names

_LINES_AT_A_TIME = 1 << 16
_OTHERWISE = "convert it without --shards"


def stream_tu(path: str | PathLike[str], *, size: int, after: int | None = None) -> Iterator[Chunk]:
    """Yield the graphs of a TU folder with their targets, in the memory of one chunk.

    Args:
        path: A folder with ``NAME_A.txt`` and so on, whose edges are sorted by graph.
        size: Most graphs of a chunk.
        after: The number of the last graph that is left out; ``None`` to begin at the first.
    """
    folder = Path(path)
    with reading(folder), ExitStack() as stack:
        name, places = find_parts(folder)
        files = _Files(name, folder, places, stack)
        done, first = 0, 0 if after is None else after + 1
        while True:
            wanted = min(size, first - done) if done < first else size
            found = files.next_graphs(wanted)
            if found is None:
                break
            if done >= first:
                yield Chunk(found, list(range(done, done + len(found))), "graph")
            done += len(found)
        files.check_ended()
    if done == 0:
        raise DataError("has no graphs; it needs one line for each", source=folder)


class _Lines:
    """The lines of a file, some at a time."""

    def __init__(self, file: IO[bytes], place: str) -> None:
        self._lines, self.place = iter(file), place
        self.read = 0

    def take(self, count: int) -> bytes:
        """Return the next lines; fewer at the end of the file."""
        lines = list(islice(self._lines, count))
        while lines and not lines[-1].strip():  # at the end of a file only: else it is an error
            lines.pop()
        self.read += len(lines)
        return b"".join(lines)


class _Table:
    """Numbers of a file, some rows at a time."""

    def __init__(
        self, lines: _Lines, parse: Callable[..., NDArray[Any]], columns: int | None
    ) -> None:
        self._lines, self._parse, self._columns = lines, parse, columns
        self._rows: NDArray[Any] | None = None
        self.first = 1
        """The number of the line of the first row that was not taken."""

    @property
    def place(self) -> str:
        return self._lines.place

    def peek(self) -> NDArray[Any]:
        """Return some of the rows that come next; none at the end of the file."""
        if self._rows is None or not len(self._rows):
            before = self._lines.read
            text = self._lines.take(_LINES_AT_A_TIME)
            try:
                rows = self._parse(text, columns=self._columns, source=self.place)
            except DataError as error:
                line = None if error.line is None else error.line + before
                raise DataError(error.problem, source=error.source, line=line) from None
            self._columns = rows.shape[1] if len(rows) else self._columns
            self._rows = rows
        return self._rows

    def take(self, count: int) -> NDArray[Any]:
        """Return the next rows, exactly so many."""
        parts, left = [], count
        while left:
            rows = self.peek()
            if not len(rows):
                raise DataError(
                    f"ends {left} lines too early; it is truncated",
                    source=self.place,
                    line=self.first,
                )
            parts.append(rows[:left])
            self._drop(len(parts[-1]))
            left -= len(parts[-1])
        if not parts:
            return self.peek()[:0]
        return np.concatenate(parts)

    def take_while(self, below: int) -> NDArray[Any]:
        """Return the next rows up to the first whose first number is not below a number."""
        parts = [self.peek()[:0]]
        while True:
            rows = self.peek()
            stop = rows[:, 0] >= below
            count = int(stop.argmax()) if stop.any() else len(rows)
            parts.append(rows[:count])
            self._drop(count)
            if not count or stop.any():
                return np.concatenate(parts)

    def _drop(self, count: int) -> None:
        assert self._rows is not None
        self._rows = self._rows[count:]
        self.first += count


class _Files:
    """The files of a dataset, read side by side."""

    def __init__(self, name: str, folder: Path, places: dict[str, Path], stack: ExitStack) -> None:
        self._name, self._places = name, places
        self._next_graph, self._next_node = 1, 1

        def table(part: str, columns: int | None, *, floats: bool = False) -> _Table | None:
            if part not in places:
                return None
            lines = _Lines(stack.enter_context(places[part].open("rb")), str(places[part]))
            return _Table(lines, float_table if floats else int_table, columns)

        def required(part: str, columns: int) -> _Table:
            found = table(part, columns)
            if found is None:
                raise DataError(f"lacks the file {name}_{part}.txt", source=folder)
            return found

        self._indicator, self._edges = required("graph_indicator", 1), required("A", 2)
        labels = "graph_labels" in places
        part = "graph_labels" if labels else "graph_attributes"
        targets = table(part, 1 if labels else None, floats=not labels)
        if targets is None:
            raise DataError(
                f"has no targets; it needs {name}_graph_labels.txt or {name}_graph_attributes.txt",
                source=folder,
            )
        self._targets = targets
        self._tables = {
            "labels": table("node_labels", None),
            "attributes": table("node_attributes", None, floats=True),
            "edge_labels": table("edge_labels", None),
            "edge_attributes": table("edge_attributes", None, floats=True),
        }
        self._names = self._read_names() if labels else None

    def next_graphs(self, count: int) -> GraphSet | None:
        """Return the next graphs, at most ``count``; None at the end."""
        values = self._targets.peek()[:count]
        if not len(values):
            return None
        values = self._targets.take(min(count, len(values)))
        ptr = self._sizes(len(values))
        edges = self._edge_index(int(ptr[-1]))
        nodes, count = int(ptr[-1]), edges.shape[1]
        rows = {
            key: None if table is None else table.take(count if key.startswith("edge") else nodes)
            for key, table in self._tables.items()
        }
        try:
            graphs = graphs_from_arrays(np.diff(ptr), edges, **rows, name=self._name)
        except DataError as error:
            raise DataError(
                f"{error.problem} (in graphs {self._next_graph} to "
                f"{self._next_graph + len(values) - 1}, counted from there)",
                source=self._places["A"],
            ) from None
        y, classes = self._as_targets(values)
        self._next_graph += len(values)
        self._next_node += int(ptr[-1])
        loops = int((edges[0] == edges[1]).sum())
        provenance = {**graphs.provenance, "format": "TU", "self_loops_kept": loops}
        listed = graphs.label_values if self._names is None else self._names.label_values
        return replace(
            without_features(graphs),
            y=y,
            classes=classes,
            label_values=listed,
            provenance=provenance,
        )

    def check_ended(self) -> None:
        """Raise if a file is longer than the others."""
        for table in (self._indicator, self._edges, *self._tables.values()):
            if table is not None and len(table.peek()):
                raise DataError(
                    f"is longer than needed: it goes on after the last of "
                    f"{self._next_graph - 1} graphs",
                    source=table.place,
                    line=table.first,
                )

    def _sizes(self, count: int) -> Ints:
        line, last = self._indicator.first, self._next_graph + count
        graph = self._indicator.take_while(last)[:, 0]
        wrong = np.diff(graph, prepend=self._next_graph) < 0
        if wrong.any():
            place = int(wrong.argmax())
            raise DataError(
                f"goes back to graph {graph[place]}; nodes must be sorted by graph",
                source=self._indicator.place,
                line=line + place,
            )
        sizes = np.bincount(graph - self._next_graph, minlength=count)
        return np.concatenate([[0], sizes.cumsum()])

    def _edge_index(self, nodes: int) -> Ints:
        line, last = self._edges.first, self._next_node + nodes
        edges: Ints = self._edges.take_while(last).T - self._next_node
        wrong = ((edges < 0) | (edges >= nodes)).any(axis=0)
        if wrong.any():
            raise DataError(
                f"the edge is not among those of its graph: edges need to be sorted by graph, and "
                f"stay inside of it; {_OTHERWISE}",
                source=self._edges.place,
                line=line + int(wrong.argmax()),
            )
        return edges

    def _as_targets(self, values: NDArray[Any]) -> tuple[torch.Tensor, tuple[str | int, ...]]:
        if "graph_labels" not in self._places:
            return targets_from(values, len(values))
        numbers = values[:, 0]
        if self._names is None:
            return targets_from(numbers, len(numbers))
        outside = (numbers < 0) | (numbers >= len(self._names.classes))
        if outside.any():
            raise DataError(
                f"names class {numbers[int(outside.argmax())]}, but {self._name}_names.json lists "
                f"0 to {len(self._names.classes) - 1}",
                source=self._targets.place,
                line=self._next_graph + int(outside.argmax()),
            )
        return torch.from_numpy(numbers), self._names.classes

    def _read_names(self) -> Names | None:
        if "names" not in self._places:
            return None
        place = self._places["names"]
        content = {"names": place.read_bytes()}
        return read_names(RawFiles(str(place.parent), self._name, content, {"names": str(place)}))
