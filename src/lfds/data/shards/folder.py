"""The folder of a sharded set: its parts, mapped into memory on first use."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from lfds.data.batch import pointers, ranges
from lfds.data.edges import Ints
from lfds.data.errors import DataError, reading
from lfds.data.shards.manifest import Manifest, Part, read_manifest
from lfds.data.shards.mapped import Field, MappedTensors
from lfds.data.storage import TENSORS

_I64: np.dtype[Any] = np.dtype("<i8")
_I32: np.dtype[Any] = np.dtype("<i4")
_F32: np.dtype[Any] = np.dtype("<f4")
_NODE_TABLES = {"x": _F32, "attributes": _F32, "labels": _I64, "coordinates": _F32}
_EDGE_TABLES = {"edge_attributes": _F32, "edge_labels": _I64}
_BYTES_AT_A_TIME = 1 << 24
# In the table of classes: the last column is that of a missing class, -1.
_MISSING, _UNKNOWN = -1, -2
_NO_CLASS = "y holds a class that it has not"


@dataclass(frozen=True)
class Located:
    """Where some graphs are.

    Attributes:
        part: The part of each graph.
        local: Its number in that part.
        part_of_node: The part of each node.
        nodes: The number of each node in its part.
        ptr: Where the nodes of each graph begin among these.
        edge_starts: The number of the first edge of each graph in its part.
        edge_counts: Number of edges of each graph.
    """

    part: Ints
    local: Ints
    part_of_node: Ints
    nodes: Ints
    ptr: Ints
    edge_starts: Ints
    edge_counts: Ints


class ShardFolder:
    """The parts of a sharded set on disk, mapped on first use.

    Args:
        path: The folder.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self.manifest = read_manifest(self.path)
        parts = self.manifest.parts
        self.starts = pointers(np.array([part.graphs for part in parts], dtype=np.int64))
        self.nodes = np.array([part.nodes for part in parts], dtype=np.int64)
        self.edges = np.array([part.edges for part in parts], dtype=np.int64)
        self._check_files()
        self._fields = _fields(self.manifest)
        self._classes = _class_table(self.manifest)
        classes = self.manifest.classes
        self._same_classes = all(part.classes in (None, classes) for part in parts)
        self._tensors = MappedTensors(self._fields, len(parts))
        self._all_mapped = False

    def __len__(self) -> int:
        return int(self.starts[-1])

    def file_of(self, part: Part) -> Path:
        """Return the file with the tensors of a part."""
        return self.path / part.name / TENSORS

    def locate(self, numbers: Ints) -> Located:
        """Find graphs by their numbers, and check that their rows are inside of their parts."""
        part = self.starts.searchsorted(numbers, side="right") - 1
        self._map(part)
        local = numbers - self.starts.take(part)
        place = self._tensors.first("ptr", part) + local
        first, last = self._tensors.take("ptr", place), self._tensors.take("ptr", place + 1)
        self._check(part, first, last, self.nodes, "ptr")
        rows = self._tensors.first("edge_ptr", part)
        edge_starts = self._tensors.take("edge_ptr", rows + first)
        edge_ends = self._tensors.take("edge_ptr", rows + last)
        self._check(part, edge_starts, edge_ends, self.edges, "edge_ptr")
        sizes = last - first
        ptr = pointers(sizes)
        return Located(
            part=part,
            local=local,
            part_of_node=part.repeat(sizes),
            nodes=ranges(first, ptr),
            ptr=ptr,
            edge_starts=edge_starts,
            edge_counts=edge_ends - edge_starts,
        )

    def graph_rows(self, name: str, found: Located) -> NDArray[Any]:
        """Return the rows of a tensor that has one for each graph."""
        rows = self._rows(name, found.part, found.local)
        return self._as_classes(rows, found.part) if name == "y" else rows

    def node_rows(self, name: str, found: Located) -> NDArray[Any]:
        """Return the rows of a tensor that has one for each node."""
        return self._rows(name, found.part_of_node, found.nodes)

    def edge_rows(self, name: str, found: Located) -> NDArray[Any]:
        """Return the rows of a tensor that has one for each edge."""
        width = self._fields[name].width
        if width == 0:
            return np.empty((int(found.edge_counts.sum()), 0), dtype=_EDGE_TABLES[name])
        if width == 1:
            starts = self._tensors.first(name, found.part) + found.edge_starts
            return self._tensors.take(name, ranges(starts, pointers(found.edge_counts)))
        edges = ranges(found.edge_starts, pointers(found.edge_counts))
        return self._rows(name, found.part.repeat(found.edge_counts), edges)

    def edges_of(self, found: Located) -> tuple[Ints, NDArray[np.int32]]:
        """Return the pointers of the edges of located graphs, and the senders inside each graph."""
        rows = self._tensors.first("edge_ptr", found.part_of_node) + found.nodes
        starts = self._tensors.take("edge_ptr", rows)
        counts = self._tensors.take("edge_ptr", rows + 1) - starts
        senders = self.edge_rows("edge_dst", found)
        sizes = (found.ptr[1:] - found.ptr[:-1]).repeat(found.edge_counts)
        # Seen as unsigned, a negative number is a large one.
        if (len(counts) and counts.min() < 0) or (senders.view(np.uint32) >= sizes).any():
            self._raise_damaged(found, senders, sizes)
        return pointers(counts), senders

    def whole(self, name: str, first: int, last: int) -> Iterator[NDArray[Any]]:
        """Yield a graph-level tensor of the graphs ``first`` to ``last``, part by part."""
        low = int(self.starts.searchsorted(first, side="right")) - 1
        for part in range(max(low, 0), len(self.manifest.parts)):
            start, stop = int(self.starts[part]), int(self.starts[part + 1])
            if start >= last:
                return
            self._map(np.array([part]))
            rows = self._tensors.whole(name, part, stop - start + (name == "ptr"))
            inside = slice(max(first - start, 0), min(last, stop) - start + (name == "ptr"))
            if name == "y":
                count = inside.stop - inside.start
                yield self._as_classes(rows[inside], np.full(count, part))
            else:
                yield rows[inside]

    def verify(self, part: Part) -> None:
        """Raise unless the tensors of a part have the checksum of the manifest."""
        file = self.file_of(part)
        if file_sha256(file) != part.sha256:
            raise DataError(
                "is not what was stored: its checksum differs; copy or convert it again",
                source=file,
            )

    def _rows(self, name: str, part: Ints, rows: Ints) -> NDArray[Any]:
        width = self._fields[name].width
        if width == 0:
            return np.empty((len(rows), 0), dtype=self._fields[name].dtype)
        return self._tensors.take(name, self._tensors.first(name, part) + rows * width)

    def _as_classes(self, y: NDArray[Any], part: Ints) -> NDArray[Any]:
        """Return indices into the classes of the set, from indices into those of the parts."""
        if self.manifest.targets.dtype != "int64":
            return y
        if self._same_classes:  # the usual case, and the fast one
            if len(y) and (y.min() < 1 - y.ndim or y.max() >= len(self.manifest.classes)):
                wrong = (y < 1 - y.ndim) | (y >= len(self.manifest.classes))
                self._damaged(int(part[np.nonzero(wrong)[0][0]]), _NO_CLASS)
            return y
        columns = part if y.ndim == 1 else part[:, None]
        inside = (y >= 1 - y.ndim) & (y < self._classes.shape[1] - 2)
        found = self._classes[columns, np.where(inside, y, _UNKNOWN)]
        wrong = (found < 1 - y.ndim) | ~inside
        if wrong.any():
            self._damaged(int(part[np.nonzero(wrong)[0][0]]), _NO_CLASS)
        return found

    def _map(self, parts: Ints) -> None:
        if self._all_mapped:
            return
        for part in np.unique(parts[~self._tensors.mapped.take(parts)]).tolist():
            entry = self.manifest.parts[part]
            rows = _row_counts(entry)
            self._tensors.open(part, self.file_of(entry), rows, entry.size)
        self._all_mapped = bool(self._tensors.mapped.all())

    def _check_files(self) -> None:
        """Raise for the first part that is missing or has another size; nothing else is read."""
        for part in self.manifest.parts:
            file = self.file_of(part)
            try:
                found = os.stat(file).st_size
            except FileNotFoundError:
                raise DataError(
                    "is missing, and the manifest lists it; copy or convert the set again",
                    source=file,
                ) from None
            except OSError as error:
                problem = f"cannot be read ({error.strerror})"
                raise DataError(problem, source=file) from error
            if found != part.size:
                raise DataError(
                    f"has {found:,} bytes where {part.size:,} are needed: it was changed or is "
                    f"truncated; copy or convert the set again",
                    source=file,
                )

    def _check(self, part: Ints, first: Ints, last: Ints, most: Ints, name: str) -> None:
        wrong = (first < 0) | (last < first) | (last > most.take(part))
        if wrong.any():
            self._damaged(int(part[int(wrong.argmax())]), f"{name} leads out of the part")

    def _raise_damaged(self, found: Located, senders: NDArray[np.int32], sizes: Ints) -> NoReturn:
        outside = senders.view(np.uint32) >= sizes
        edge = int(outside.argmax()) if outside.any() else 0
        part = found.part.repeat(found.edge_counts)[edge]
        self._damaged(int(part), "an edge names a node that its graph has not")

    def _damaged(self, part: int, problem: str) -> NoReturn:
        raise DataError(
            f"is damaged: {problem}; copy or convert it again",
            source=self.file_of(self.manifest.parts[part]),
        )


def file_sha256(file: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with reading(file), file.open("rb") as content:
        while block := content.read(_BYTES_AT_A_TIME):
            digest.update(block)
    return digest.hexdigest()


def _fields(manifest: Manifest) -> dict[str, Field]:
    widths, y = manifest.widths, manifest.targets
    return {
        "ptr": Field(_I64),
        "edge_ptr": Field(_I64),
        "edge_dst": Field(_I32),
        "y": Field(_I64 if y.dtype == "int64" else _F32, y.columns),
        "groups": Field(_I64, widths["groups"]),
        **{name: Field(dtype, widths[name]) for name, dtype in _NODE_TABLES.items()},
        **{name: Field(dtype, widths[name]) for name, dtype in _EDGE_TABLES.items()},
    }


def _row_counts(part: Part) -> dict[str, int]:
    return {
        "ptr": part.graphs + 1,
        "edge_ptr": part.nodes + 1,
        "edge_dst": part.edges,
        "y": part.graphs,
        "groups": part.graphs,
        **dict.fromkeys(_NODE_TABLES, part.nodes),
        **dict.fromkeys(_EDGE_TABLES, part.edges),
    }


def _class_table(manifest: Manifest) -> Ints:
    """Return for each part and each of its classes the index among the classes of the set.

    A part is written before all classes are known. The last two columns are those of an unknown
    class, -2, and of a missing one, -1.
    """
    place = {name: number for number, name in enumerate(manifest.classes)}
    most = max((len(part.classes or ()) for part in manifest.parts), default=0)
    most = max(most, len(place))
    table = np.full((len(manifest.parts), most + 2), _UNKNOWN, dtype=np.int64)
    table[:, -1] = _MISSING
    for row, part in zip(table, manifest.parts, strict=True):
        names = manifest.classes if part.classes is None else part.classes
        row[: len(names)] = [place[name] for name in names]
    return table
