"""A GraphSet whose graphs stay on disk, in parts, and are read when they are used."""

from collections.abc import Iterator
from functools import cached_property
from os import PathLike
from typing import Any, Protocol, Self, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lfds.config.budget import over_budget
from lfds.data.batch import Batch, Indices, Rows, as_rows, take
from lfds.data.edges import Ints
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.shards.folder import Located, ShardFolder
from lfds.data.shards.manifest import WIDTHS

# Nodes that are read at a time where a whole set is gone through.
_NODES_OF_A_PIECE = 1 << 18
_GRAPH_LEVEL = frozenset(("ptr", "y", "groups"))
_EDGE_LEVEL = frozenset(("edge_dst", "edge_attributes", "edge_labels", "edge_x"))
_CACHED = frozenset(("ptr", "y", "groups", "sizes", "degrees"))
# Bytes of a node and of an edge besides their tables.
_BYTES_PER_NODE, _BYTES_PER_EDGE, _BYTES_PER_NUMBER = 24, 12, 4


class NodeFeatures(Protocol):
    """Computes the features of nodes and edges when their graphs are read."""

    @property
    def width(self) -> int:
        """Number of columns."""

    def __call__(self, graphs: GraphSet, numbers: Ints) -> Tensor:
        """Return ``[nodes, width]``.

        Args:
            graphs: The graphs, in memory.
            numbers: Their numbers in the folder.
        """

    @property
    def edge_width(self) -> int:
        """Number of columns of the features of edges."""

    def edge_features(self, graphs: GraphSet) -> Tensor:
        """Return ``[edges, edge_width]`` of graphs in memory."""


@final
class ShardedGraphSet(GraphSet):
    """Graphs in parts on disk, with the interface of a :class:`GraphSet`.

    Batches, and the pieces of :meth:`GraphSet.pieces`, are read from disk when they are asked for.
    Selecting graphs copies numbers of graphs, and no graphs. A tensor of all nodes or edges, such
    as ``edge_dst``, is read as a whole when it is used: most code does not need it.

    Args:
        path: A folder written by ``lfds data convert --shards`` or
            :class:`lfds.data.shards.writer.ShardWriter`.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        folder = ShardFolder(path)
        manifest = folder.manifest
        # The fields of a GraphSet that are no tensors; the class is frozen.
        self.__dict__.update(
            name=manifest.name,
            label_values=manifest.label_values,
            classes=manifest.classes,
            target_names=manifest.target_names,
            provenance=manifest.provenance,
            folder=folder,
            numbers=slice(0, len(folder)),
            _given_y=None,
            _features=None,
            _features_only=False,
        )

    folder: ShardFolder
    """Where the graphs are."""
    numbers: Rows
    """Which graphs of the folder these are: a slice, or their numbers in order."""
    _given_y: Tensor | None
    _features: NodeFeatures | None
    _features_only: bool

    def _changed(self, **entries: Any) -> Self:
        made = object.__new__(type(self))
        kept = {name: one for name, one in self.__dict__.items() if name not in _CACHED}
        made.__dict__.update({**kept, **entries})
        return made

    def __len__(self) -> int:
        numbers = self.numbers
        return numbers.stop - numbers.start if isinstance(numbers, slice) else len(numbers)

    def __getitem__(self, graphs: Indices) -> Self:
        rows = as_rows(graphs, len(self))
        y = None if self._given_y is None else take(self._given_y, rows)
        return self._changed(numbers=self._numbers(rows, keep_slice=True), _given_y=y)

    def __repr__(self) -> str:
        return (
            f"ShardedGraphSet({self.name!r}, graphs={len(self)}, "
            f"parts={len(self.folder.manifest.parts)}, features={self.width('x')}, "
            f"attributes={self.width('attributes')}, labels={self.width('labels')}, "
            f"classes={self.num_classes})"
        )

    @property
    def is_whole(self) -> bool:
        """Whether these are all graphs of the folder, in order."""
        whole = slice(0, len(self.folder))
        return isinstance(self.numbers, slice) and self.numbers == whole

    @property
    def fingerprint(self) -> str:
        """A hash of the content of the folder, from the checksums of its parts."""
        return self.folder.manifest.fingerprint

    def width(self, table: str) -> int:
        manifest = self.folder.manifest
        if table == "x" and self._features is not None:
            return self._features.width
        if table == "edge_x":
            return 0 if self._features is None else self._features.edge_width
        stored = self._stored_name(table)
        return 0 if stored is None else manifest.widths[stored]

    def _stored_name(self, table: str) -> str | None:
        """Return the table on disk that a table of the set is; None if it has no columns."""
        if table == "labels" and self._features_only:
            return None
        if table == "attributes" and self._features_only:
            return "x"
        if table == "x" and self.folder.manifest.features_are_attributes:
            return "attributes"
        return table

    @property
    def num_nodes(self) -> int:
        if self.is_whole:
            return int(self.folder.nodes.sum())
        return int(self.ptr[-1])

    @property
    def num_edges(self) -> int:
        if self.is_whole:
            return int(self.folder.edges.sum())
        runs = (self.folder.locate(self._numbers(rows)) for rows in self._runs())
        return sum(int(found.edge_counts.sum()) for found in runs)

    @property
    def has_targets(self) -> bool:
        return self.y.ndim == 1 or self.y.shape[1] > 0

    def batch(self, graphs: Indices) -> Batch:
        rows = as_rows(graphs, len(self))
        numbers = self._numbers(rows)
        found = self.folder.locate(numbers)
        edge_ptr, senders = self.folder.edges_of(found)
        edges = found.ptr[:-1].repeat(found.edge_counts)
        edges += senders
        y = (
            torch.from_numpy(self.folder.graph_rows("y", found))
            if self._given_y is None
            else take(self._given_y, rows)
        )
        if self._features is None:
            x = torch.from_numpy(self._nodes_of("x", found))
            edge_x = torch.empty(len(edges), 0)
        else:
            read = self._read(found, edge_ptr, senders, y)
            x, edge_x = self._features(read, numbers), self._features.edge_features(read)
        return Batch(
            x=x,
            ptr=torch.from_numpy(found.ptr),
            edge_ptr=torch.from_numpy(edge_ptr),
            edge_dst=torch.from_numpy(edges),
            y=y,
            edge_attributes=torch.from_numpy(self.folder.edge_rows("edge_attributes", found)),
            edge_labels=torch.from_numpy(self.folder.edge_rows("edge_labels", found)),
            edge_x=edge_x,
        )

    def in_memory(self) -> GraphSet:
        self._check_memory()
        numbers = self._numbers(slice(0, len(self)))
        found = self.folder.locate(numbers)
        edge_ptr, senders = self.folder.edges_of(found)
        y = (
            torch.from_numpy(self.folder.graph_rows("y", found))
            if self._given_y is None
            else self._given_y
        )
        graphs = self._read(found, edge_ptr, senders, y)
        if self._features is None:
            return graphs
        features = self._features
        return graphs.with_features(features(graphs, numbers), features.edge_features(graphs))

    def pieces(self) -> Iterator[GraphSet]:
        for rows in self._runs():
            yield self[rows].in_memory()

    def with_features(self, x: Tensor, edge_x: Tensor | None = None) -> GraphSet:
        return self.in_memory().with_features(x, edge_x)

    def with_targets(self, y: Tensor, classes: tuple[str | int, ...] | None = None) -> Self:
        if len(y) != len(self):
            raise DataError(f"needs one row for each of {len(self)} graphs", source="y")
        return self._changed(_given_y=y, classes=self.classes if classes is None else classes)

    def with_node_features(self, features: NodeFeatures) -> Self:
        """Return the same graphs with features that are computed when graphs are read."""
        return self._changed(_features=features)

    def features_as_attributes(self) -> GraphSet:
        if self._features is not None or not self.width("x"):
            return self.in_memory().features_as_attributes() if self.width("x") else self
        if self.folder.manifest.features_are_attributes:
            return self
        return self._changed(_features_only=True, label_values=())

    def shape_of(self, tensor: str) -> tuple[int, ...]:
        if tensor in _GRAPH_LEVEL:
            return tuple(getattr(self, tensor).shape)
        rows = self.num_edges if tensor in _EDGE_LEVEL else self.num_nodes
        if tensor == "edge_ptr":
            return (rows + 1,)
        return (rows,) if tensor == "edge_dst" else (rows, self.width(tensor))

    def blocks(self, tensor: str) -> Iterator[NDArray[Any]]:
        if tensor in _GRAPH_LEVEL:
            yield getattr(self, tensor).numpy()
            return
        edges = 0
        if tensor == "edge_ptr":
            yield np.zeros(1, dtype=np.int64)
        for rows in self._runs():
            if tensor == "edge_x" or (tensor == "x" and self._features is not None):
                yield getattr(self[rows].in_memory(), tensor).numpy()
                continue
            found = self.folder.locate(self._numbers(rows))
            if tensor == "edge_ptr":
                yield self.folder.edges_of(found)[0][1:] + edges
                edges += int(found.edge_counts.sum())
            elif tensor == "edge_dst":
                yield self.folder.edges_of(found)[1]
            elif tensor in _EDGE_LEVEL:
                yield self.folder.edge_rows(tensor, found)
            else:
                yield self._nodes_of(tensor, found)

    @cached_property
    def ptr(self) -> Tensor:
        sizes = np.empty(len(self) + 1, dtype=np.int64)
        sizes[0] = 0
        if isinstance(self.numbers, slice):
            filled = 1
            for rows in self.folder.whole("ptr", self.numbers.start, self.numbers.stop):
                sizes[filled : filled + len(rows) - 1] = np.diff(rows)
                filled += len(rows) - 1
        else:
            for run in self._runs():
                found = self.folder.locate(self._numbers(run))
                sizes[1 + run.start : 1 + run.stop] = np.diff(found.ptr)
        return torch.from_numpy(sizes.cumsum(out=sizes))

    @cached_property
    def y(self) -> Tensor:
        if self._given_y is not None:
            return self._given_y
        return self._graph_column("y")

    @cached_property
    def groups(self) -> Tensor:
        return self._graph_column("groups")

    @property
    def x(self) -> Tensor:
        return self._whole("x")

    @property
    def attributes(self) -> Tensor:
        return self._whole("attributes")

    @property
    def labels(self) -> Tensor:
        return self._whole("labels")

    @property
    def coordinates(self) -> Tensor:
        return self._whole("coordinates")

    @property
    def edge_ptr(self) -> Tensor:
        return self._whole("edge_ptr")

    @property
    def edge_dst(self) -> Tensor:
        return self._whole("edge_dst")

    @property
    def edge_attributes(self) -> Tensor:
        return self._whole("edge_attributes")

    @property
    def edge_labels(self) -> Tensor:
        return self._whole("edge_labels")

    @property
    def edge_x(self) -> Tensor:
        return self._whole("edge_x")

    def _numbers(self, rows: Rows, *, keep_slice: bool = False) -> Any:
        """Return the numbers in the folder of some rows of this set."""
        mine = self.numbers
        if not isinstance(mine, slice):
            return mine[rows] if isinstance(rows, slice) else mine.take(rows)
        if not isinstance(rows, slice):
            return rows + mine.start
        start, stop = mine.start + rows.start, mine.start + rows.stop
        return slice(start, stop) if keep_slice else np.arange(start, stop)

    def _runs(self) -> Iterator[slice]:
        """Cut the set into runs of graphs that are read at a time."""
        mean = max(int(self.folder.nodes.sum()) // max(len(self.folder), 1), 1)
        step = max(1, _NODES_OF_A_PIECE // mean)
        for start in range(0, len(self), step):
            yield slice(start, min(start + step, len(self)))

    def _read(self, found: Located, edge_ptr: Ints, senders: NDArray[Any], y: Tensor) -> GraphSet:
        """Return located graphs in memory, with the features that are stored."""
        attributes = torch.from_numpy(self._nodes_of("attributes", found))
        shared = self._stored_name("x") == self._stored_name("attributes")
        x = attributes if shared else torch.from_numpy(self._nodes_of("x", found))
        groups = self.folder.graph_rows("groups", found)
        return GraphSet(
            name=self.name,
            ptr=torch.from_numpy(found.ptr),
            x=x,
            attributes=attributes,
            labels=torch.from_numpy(self._nodes_of("labels", found)),
            label_values=self.label_values,
            edge_ptr=torch.from_numpy(edge_ptr),
            edge_dst=torch.from_numpy(senders),
            edge_attributes=torch.from_numpy(self.folder.edge_rows("edge_attributes", found)),
            edge_labels=torch.from_numpy(self.folder.edge_rows("edge_labels", found)),
            y=y,
            classes=self.classes,
            coordinates=torch.from_numpy(self._nodes_of("coordinates", found)),
            target_names=self.target_names,
            groups=torch.from_numpy(groups),
            provenance=self.provenance,
        )

    def _nodes_of(self, table: str, found: Located) -> NDArray[Any]:
        stored = self._stored_name(table)
        if stored is None:
            return np.empty((len(found.nodes), 0), dtype=np.int64)
        return self.folder.node_rows(stored, found)

    def _graph_column(self, name: str) -> Tensor:
        """Return a graph-level tensor of all graphs."""
        if isinstance(self.numbers, slice):
            rows = list(self.folder.whole(name, self.numbers.start, self.numbers.stop))
        else:
            located = (self.folder.locate(self._numbers(run)) for run in self._runs())
            rows = [self.folder.graph_rows(name, found) for found in located]
        if not rows:
            rows = [self.folder.graph_rows(name, self.folder.locate(np.empty(0, dtype=np.int64)))]
        return torch.from_numpy(np.concatenate(rows))

    def _whole(self, tensor: str) -> Tensor:
        """Return a node- or edge-level tensor of all graphs, which needs to fit into memory."""
        shape = self.shape_of(tensor)
        if 0 in shape:
            none: Tensor = getattr(self[0:0].in_memory(), tensor)
            return none.new_empty(shape)
        missing = over_budget(_BYTES_PER_NUMBER * int(np.prod(shape)))
        if missing is not None:
            raise self._too_large(f"{tensor} of all its graphs {missing}")
        return torch.from_numpy(np.concatenate(list(self.blocks(tensor))))

    def _check_memory(self) -> None:
        """Raise if these graphs do not fit into memory, by the mean size of all graphs."""
        if len(self) * int(self.folder.nodes.max(initial=1)) <= _NODES_OF_A_PIECE:
            return
        part = len(self) / max(len(self.folder), 1)
        nodes = int(self.folder.nodes.sum() * part)
        edges = int(self.folder.edges.sum() * part)
        widths = {name: self.width(name) for name in WIDTHS}
        per_edge = widths["edge_attributes"] + 2 * widths["edge_labels"]
        per_node = sum(widths.values()) + widths["labels"] - per_edge
        needed = (_BYTES_PER_NODE + _BYTES_PER_NUMBER * per_node) * nodes
        needed += (_BYTES_PER_EDGE + _BYTES_PER_NUMBER * per_edge) * edges
        missing = over_budget(needed)
        if missing is not None:
            raise self._too_large(f"all its graphs in memory {missing}")

    def _too_large(self, problem: str) -> DataError:
        return DataError(f"{problem}; use fewer of its graphs", source=self.folder.path)


def open_sharded(path: str | PathLike[str], *, seed: int | None = 0) -> ShardedGraphSet:
    """Open a sharded set; its nodes keep their order, whatever the seed is."""
    return ShardedGraphSet(path)
