"""Writing a sharded set part by part, in the memory of one part."""

import fcntl
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch

from lfds.data.atomic_io import make_folder
from lfds.data.concat import concat
from lfds.data.errors import DataError, quoted, reading
from lfds.data.graphset import GraphSet
from lfds.data.shards.folder import file_sha256
from lfds.data.shards.manifest import (
    MANIFEST,
    UNFINISHED,
    WIDTHS,
    Manifest,
    Part,
    Progress,
    Targets,
    read_manifest,
)
from lfds.data.storage import TENSORS, save

GRAPHS_PER_PART = 1 << 16
"""Graphs of a part, unless given."""

# A part of large graphs has fewer: it is what is held in memory while it is written.
_NODES_PER_PART = 1 << 23
# What provenance counts is added up over the parts.
_COUNTS = ("_removed", "_kept", "_skipped")


class ShardWriter:
    """Writes graphs to a new sharded set, or appends them to one.

    A set appears with its manifest, at the end of the block: until then, and where the block fails,
    the folder holds what it held before, and the parts that were already written. With the same
    ``source``, the next writer goes on after them (:attr:`position`).

    >>> import tempfile
    >>> two = GraphSet.from_arrays([2, 1], [[0], [1]], ["bar", "dot"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ShardWriter(folder + "/set", graphs_per_part=1) as writer:
    ...         writer.add(two)
    ...     GraphSet.load(folder + "/set")
    ShardedGraphSet('graphs', graphs=2, parts=2, features=0, attributes=0, labels=0, classes=2)

    Args:
        path: The folder; it is made if it is not there.
        graphs_per_part: Most graphs of a part.
        append: Whether to append to the set in the folder, which has to be there.
        source: What identifies the graphs that are written; ``None`` if writing cannot be resumed.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        graphs_per_part: int = GRAPHS_PER_PART,
        append: bool = False,
        source: str | None = None,
    ) -> None:
        if graphs_per_part < 1:
            problem = f"needs at least 1, not {graphs_per_part}"
            raise DataError(problem, source="graphs_per_part")
        self.path = Path(path)
        self._most, self._append, self._source = graphs_per_part, append, source
        self._pending: list[GraphSet] = []
        self._counts: dict[str, str | int] = {}
        self._graphs = self._nodes = 0
        self._stored_nodes = 0
        self._made = False
        self._manifest: Manifest | None = None
        self._descriptor: int | None = None
        self.position: int | None = None
        """The position in the source of the last graph that is stored; ``None`` at the start."""

    @property
    def stored_nodes(self) -> int:
        """Number of nodes of the graphs of this source that are stored."""
        return self._stored_nodes

    @property
    def stored_graphs(self) -> int:
        """Number of graphs in all parts."""
        return 0 if self._manifest is None else sum(part.graphs for part in self._manifest.parts)

    def __enter__(self) -> Self:
        try:
            self._made = not self.path.exists()
            make_folder(self.path)
        except OSError as error:
            raise DataError(f"cannot be written ({error.strerror})", source=self.path) from error
        self._lock()
        try:
            self._begin()
        except BaseException:
            self._unlock()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            self._unlock()
            if kind is not None and self._made:
                with suppress(OSError):  # unless there are parts to go on from
                    self.path.rmdir()

    def add(
        self,
        graphs: GraphSet,
        positions: Sequence[int] | None = None,
        *,
        add_counts: bool = False,
    ) -> None:
        """Add graphs in memory; whole parts are written at once.

        Args:
            graphs: With the same columns and kind of targets as those before.
            positions: The position of each in the source, to go on from.
            add_counts: Whether what their provenance counts, such as removed edges, was counted in
                these graphs alone, and is added up.
        """
        self._check_compatible(graphs)
        if add_counts:
            self._counts = _added_up(self._counts, graphs.provenance)
        start = 0
        while start < len(graphs):
            ends = graphs.ptr.numpy()
            room = int(ends[start]) + max(_NODES_PER_PART - self._nodes, 1)
            stop = max(int(ends.searchsorted(room, side="right")) - 1, start + 1)
            stop = min(stop, start + self._most - self._graphs, len(graphs))
            piece = graphs[start:stop]
            self._pending.append(piece)
            self._graphs += len(piece)
            self._nodes += piece.num_nodes
            start = stop
            if self._graphs == self._most or self._nodes >= _NODES_PER_PART:
                self._flush(None if positions is None else positions[stop - 1])

    def _lock(self) -> None:
        try:
            self._descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise DataError(f"cannot be written ({error.strerror})", source=self.path) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._unlock()
            raise DataError(
                "is being written by another process; wait until it ends", source=self.path
            ) from None
        except OSError:  # some file systems have no locks
            pass

    def _unlock(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _begin(self) -> None:
        """Find out what is in the folder: a set to append to, or a part of the same source."""
        with reading(self.path):
            names = sorted(entry.name for entry in self.path.iterdir())
        finished, unfinished = MANIFEST in names, UNFINISHED in names
        if self._append and not finished:
            raise DataError("holds no sharded set to append to", source=self.path)
        if finished and not self._append:
            raise DataError(
                "holds a sharded set already; choose a new folder, or append to it",
                source=self.path,
            )
        others = [n for n in names if not n.startswith(("part-", ".")) and n not in _OWN]
        if others and not finished:
            raise DataError(
                f"holds other files, such as {quoted(others[0])}; choose a new folder",
                source=self.path,
            )
        before = read_manifest(self.path) if finished else None
        self._manifest = before
        if unfinished:
            self._resume(before)
        if self._manifest is not None:
            self._counts = _added_up({}, self._manifest.provenance)
        self._remove_unlisted(names)

    def _resume(self, before: Manifest | None) -> None:
        found = read_manifest(self.path, UNFINISHED)
        progress, kept = found.progress, () if before is None else before.parts
        same = progress is not None and progress.source == self._source
        if same and found.parts[: len(kept)] == kept:
            assert progress is not None
            self._manifest = found
            self.position, self._stored_nodes = progress.position, progress.nodes
        else:
            (self.path / UNFINISHED).unlink()

    def _remove_unlisted(self, names: Iterable[str]) -> None:
        """Remove parts that were written but not listed, by a process that was killed."""
        listed = set() if self._manifest is None else {part.name for part in self._manifest.parts}
        for name in names:
            if name.startswith("part-") and name not in listed:
                shutil.rmtree(self.path / name, ignore_errors=True)

    def _check_compatible(self, graphs: GraphSet) -> None:
        if self._manifest is None:
            return
        for name in WIDTHS:
            need, found = self._manifest.widths[name], _stored_width(graphs, name)
            if need != found and not (name == "x" and self._manifest.features_are_attributes):
                raise DataError(
                    f"{name} needs {need} columns as the set has, not {found}; convert these "
                    f"graphs to a set of their own",
                    source=graphs.name,
                )
        if _targets_of(graphs) != self._manifest.targets:
            raise DataError(
                "needs the same kind and number of targets as the set", source=graphs.name
            )
        kinds = {type(name) for name in (*self._manifest.classes, *graphs.classes)}
        if len(kinds) > 1:
            raise DataError(
                "its classes are names where the set has numbers, or the reverse; convert it to "
                "a set of its own",
                source=graphs.name,
            )

    def _flush(self, position: int | None) -> None:
        if not self._pending:
            return
        graphs = _joined(self._pending)
        self._pending, self._graphs, self._nodes = [], 0, 0
        number = 0 if self._manifest is None else len(self._manifest.parts)
        name = f"part-{number:06d}"
        save(graphs, self.path / name)
        file = self.path / name / TENSORS
        with reading(file):
            size = file.stat().st_size
        part = Part(
            name=name,
            graphs=len(graphs),
            nodes=graphs.num_nodes,
            edges=graphs.num_edges,
            size=size,
            sha256=file_sha256(file),
            classes=graphs.classes or None,
        )
        self._stored_nodes += graphs.num_nodes
        self._manifest = _extended(self._manifest, graphs, part)
        provenance = {**self._manifest.provenance, **self._counts}
        self._manifest = self._manifest.model_copy(update={"provenance": provenance})
        if self._source is not None and position is not None:
            self.position = position
            progress = Progress(source=self._source, position=position, nodes=self._stored_nodes)
            self._manifest.model_copy(update={"progress": progress}).write(self.path, UNFINISHED)

    def _finish(self) -> None:
        self._flush(None)
        if self._manifest is None:
            raise DataError("needs at least one graph", source=self.path)
        self._manifest.model_copy(update={"progress": None}).write(self.path)
        with suppress(FileNotFoundError):
            (self.path / UNFINISHED).unlink()


_OWN = frozenset((MANIFEST, UNFINISHED, "encodings"))


def _joined(pending: list[GraphSet]) -> GraphSet:
    """Return graphs of the same columns, whose classes may differ, as one set."""
    if len({graphs.classes for graphs in pending}) == 1:
        return concat(pending)
    classes = tuple(sorted(set().union(*(graphs.classes for graphs in pending))))
    place = {name: number for number, name in enumerate(classes)}
    same = []
    for graphs in pending:
        # The last entry is for a missing class, -1.
        numbers = torch.tensor([*(place[name] for name in graphs.classes), -1])
        same.append(graphs.with_targets(numbers[graphs.y], classes))
    return concat(same)


def _extended(before: Manifest | None, graphs: GraphSet, part: Part) -> Manifest:
    """Return the manifest with one part more."""
    if before is None:
        return Manifest(
            name=graphs.name,
            classes=graphs.classes,
            label_values=graphs.label_values,
            target_names=graphs.target_names,
            provenance=dict(graphs.provenance),
            widths={name: _stored_width(graphs, name) for name in WIDTHS},
            targets=_targets_of(graphs),
            features_are_attributes=graphs.x is graphs.attributes,
            parts=(part,),
        )
    values = zip(before.label_values, graphs.label_values, strict=True)
    return before.model_copy(
        update={
            "classes": tuple(sorted({*before.classes, *graphs.classes})),
            "label_values": tuple(tuple(sorted({*old, *new})) for old, new in values),
            "parts": (*before.parts, part),
        }
    )


def _added_up(before: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str | int]:
    found = dict(before)
    for key, value in new.items():
        if isinstance(value, int) and key.endswith(_COUNTS):
            old = found.get(key, 0)
            found[key] = value + (old if isinstance(old, int) else 0)
    return found


def _stored_width(graphs: GraphSet, name: str) -> int:
    return 0 if name == "x" and graphs.x is graphs.attributes else graphs.width(name)


def _targets_of(graphs: GraphSet) -> Targets:
    return Targets(
        dtype="int64" if graphs.classes else "float32",
        columns=None if graphs.y.ndim == 1 else graphs.y.shape[1],
    )
