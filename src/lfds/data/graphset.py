"""A dataset of graphs as one frozen dataclass of flat tensors."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lfds.data.batch import Batch, Indices, as_rows, assemble, select, take
from lfds.data.edges import edge_index_from_rows
from lfds.data.errors import DataError, check_text

if TYPE_CHECKING:
    import networkx
    from torch_geometric.data import Data

    from lfds.data.readers.arrays import Array

MISSING_CLASS = -1
"""In ``y`` of several targets: the class is not known."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphSet:
    """Graphs concatenated into flat tensors; a batch is a slice.

    Edges are stored as CSR rows: row ``i`` of ``edge_ptr`` holds the nodes **from which** node
    ``i`` receives, sorted. In PyG's terms ``edge_dst`` is ``edge_index[0]`` sorted by
    ``edge_index[1]``; undirected graphs have both directions. Nodes are numbered inside their
    graph, so that selecting a graph needs no renumbering. A tensor that a set does not have has
    width 0; it is never ``None``.

    Attributes:
        name: Name of the set in tables and messages.
        ptr: int64 ``[graphs + 1]``; nodes of graph ``g`` are ``ptr[g]:ptr[g + 1]``.
        x: float32 ``[nodes, features]``, the input of a network; width 0 until encoded.
        attributes: float32 ``[nodes, a]``, real-valued node attributes as they were read.
        labels: int64 ``[nodes, l]``, categorical node labels with their original values.
        label_values: The sorted original values of each column of ``labels``.
        edge_ptr: int64 ``[nodes + 1]``.
        edge_dst: int32 ``[edges]``.
        edge_attributes: float32 ``[edges, ea]``.
        edge_labels: int64 ``[edges, el]``, with their original values.
        y: int64 ``[graphs]``, indices into ``classes``; int64 ``[graphs, targets]`` for several
            targets with the same two classes, -1 where one is missing; float32 ``[graphs]`` or
            ``[graphs, targets]`` for regression, NaN where one of several is missing;
            ``[graphs, 0]`` without targets.
        classes: The original name of each class; empty for regression and without targets.
        coordinates: float32 ``[nodes, c]``, positions of nodes in space, used for drawing only:
            encoders, batches and networks do not see them. Width 0 by default.
        target_names: The name of each target; empty if they have none.
        groups: int64 ``[graphs, 1]``; graphs of one group, such as a scaffold, stay together in
            splits. Width 0 by default: every graph is a group of its own.
        edge_x: float32 ``[edges, edge_features]``, the features of edges that a network uses; width
            0 until encoded, or where edges have neither labels nor attributes.
        provenance: Where the set came from and how it was changed.
    """

    name: str
    ptr: Tensor
    x: Tensor
    attributes: Tensor
    labels: Tensor
    label_values: tuple[tuple[int, ...], ...]
    edge_ptr: Tensor
    edge_dst: Tensor
    edge_attributes: Tensor
    edge_labels: Tensor
    y: Tensor
    classes: tuple[str | int, ...]
    coordinates: Tensor = field(default_factory=lambda: torch.empty(0, 0))
    target_names: tuple[str, ...] = ()
    groups: Tensor = field(default_factory=lambda: torch.empty(0, 0, dtype=torch.int64))
    edge_x: Tensor = field(default_factory=lambda: torch.empty(0, 0))
    provenance: Mapping[str, str | int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_text((self.name,), "name")
        check_text(self.classes, "classes")
        check_text(self.target_names, "target_names")
        if self.groups.shape == (0, 0):
            object.__setattr__(self, "groups", self.groups.new_empty(max(len(self.ptr) - 1, 0), 0))
        if self.coordinates.shape == (0, 0):  # the default: a row for every node
            object.__setattr__(self, "coordinates", torch.empty(self.num_nodes, 0))
        if self.edge_x.shape == (0, 0):
            object.__setattr__(self, "edge_x", torch.empty(self.num_edges, 0))

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def __getitem__(self, graphs: Indices) -> Self:
        rows = select(self.ptr, self.edge_ptr, as_rows(graphs, len(self)))
        attributes = take(self.attributes, rows.nodes)
        return replace(
            self,
            ptr=torch.from_numpy(rows.ptr),
            x=attributes if self.x is self.attributes else take(self.x, rows.nodes),
            attributes=attributes,
            labels=take(self.labels, rows.nodes),
            edge_ptr=torch.from_numpy(rows.edge_ptr),
            edge_dst=take(self.edge_dst, rows.edges),
            edge_attributes=take(self.edge_attributes, rows.edges),
            edge_labels=take(self.edge_labels, rows.edges),
            y=take(self.y, rows.graphs),
            coordinates=take(self.coordinates, rows.nodes),
            groups=take(self.groups, rows.graphs),
            edge_x=take(self.edge_x, rows.edges),
        )

    def __repr__(self) -> str:
        return (
            f"GraphSet({self.name!r}, graphs={len(self)}, nodes={self.num_nodes}, "
            f"edges={self.num_edges}, features={self.width('x')}, "
            f"attributes={self.width('attributes')}, labels={self.width('labels')}, "
            f"classes={self.num_classes})"
        )

    @property
    def num_nodes(self) -> int:
        """Number of nodes of all graphs."""
        return len(self.edge_ptr) - 1

    @property
    def num_edges(self) -> int:
        """Number of directed edges: an undirected edge counts twice, a self loop once."""
        return len(self.edge_dst)

    @property
    def num_classes(self) -> int:
        """Number of classes of the full set; 0 for regression and without targets."""
        return len(self.classes)

    @property
    def has_edge_data(self) -> bool:
        """Whether edges have labels or attributes."""
        return self.width("edge_labels") + self.width("edge_attributes") > 0

    @property
    def has_targets(self) -> bool:
        """Whether the graphs have targets to learn from or evaluate with."""
        return self.y.ndim == 1 or self.y.shape[1] > 0

    @property
    def known_targets(self) -> Tensor:
        """Which targets are known, bool ``[graphs, targets]``."""
        table = self.y.reshape(len(self), -1)
        return table != MISSING_CLASS if self.classes else ~table.isnan()

    @cached_property
    def sizes(self) -> Tensor:
        """Number of nodes of each graph."""
        return self.ptr.diff()

    @cached_property
    def degrees(self) -> Tensor:
        """Number of edges received by each node."""
        return self.edge_ptr.diff()

    @property
    def edge_index(self) -> Tensor:
        """Edges as in PyG, ``[2, edges]``, with nodes numbered over the whole set."""
        tensors = (self.ptr, self.edge_ptr, self.edge_dst)
        return torch.from_numpy(edge_index_from_rows(*(tensor.numpy() for tensor in tensors)))

    def batch(self, graphs: Indices) -> Batch:
        """Return a ragged batch of these graphs, assembled without a loop over graphs."""
        rows = select(self.ptr, self.edge_ptr, as_rows(graphs, len(self)))
        edges = (self.edge_attributes, self.edge_labels, self.edge_x)
        return assemble(rows, self.x, self.edge_dst, self.y, *edges)

    def width(self, table: str) -> int:
        """Return the number of columns of a table, such as ``"labels"``."""
        columns: int = getattr(self, table).shape[1]
        return columns

    def shape_of(self, tensor: str) -> tuple[int, ...]:
        """Return the shape of a tensor."""
        return tuple(getattr(self, tensor).shape)

    def blocks(self, tensor: str) -> Iterator[NDArray[np.generic]]:
        """Yield the rows of a tensor in blocks, as many as are read from disk at a time."""
        yield getattr(self, tensor).numpy()

    def pieces(self) -> "Iterator[GraphSet]":
        """Yield all graphs in sets that are in memory; one, unless they are on disk in parts."""
        yield self

    def in_memory(self) -> "GraphSet":
        """Return the graphs as flat tensors in memory; these are, unless they are in parts."""
        return self

    def with_targets(self, y: Tensor, classes: tuple[str | int, ...] | None = None) -> Self:
        """Return the same graphs with other targets; ``classes`` stay as they are by default."""
        return replace(self, y=y, classes=self.classes if classes is None else classes)

    def features_as_attributes(self) -> "GraphSet":
        """Return the graphs with their features in place of attributes and labels, if any."""
        if self.x is self.attributes or self.x.shape[1] == 0:
            return self
        return replace(self, attributes=self.x, labels=self.labels[:, :0], label_values=())

    def with_features(self, x: Tensor, edge_x: Tensor | None = None) -> "GraphSet":
        """Return the same graphs with ``x`` as features of nodes, and ``edge_x`` of edges."""
        features = _checked(x, self.num_nodes, "x", "node")
        if edge_x is None:
            return replace(self, x=features)
        return replace(self, x=features, edge_x=_checked(edge_x, self.num_edges, "edge_x", "edge"))

    def equals(self, other: "GraphSet") -> bool:
        """Whether both have the same graphs in the same order; provenance is not compared."""
        for entry in fields(self):
            mine, theirs = getattr(self, entry.name), getattr(other, entry.name)
            if isinstance(mine, Tensor):
                if mine.dtype != theirs.dtype or mine.shape != theirs.shape:
                    return False
                # Missing targets are NaN.
                if not torch.equal(mine, theirs) and not mine.allclose(theirs, 0, 0, True):
                    return False
            elif entry.name != "provenance" and mine != theirs:
                return False
        return True

    @classmethod
    def from_arrays(
        cls,
        sizes: "Array",
        edge_index: "Array",
        y: "Array | None" = None,
        *,
        attributes: "Array | None" = None,
        labels: "Array | None" = None,
        edge_attributes: "Array | None" = None,
        edge_labels: "Array | None" = None,
        coordinates: "Array | None" = None,
        name: str = "graphs",
    ) -> "GraphSet":
        """Return a set made from arrays; see :mod:`lfds.data.readers.arrays`."""
        from lfds.data.readers.arrays import graphs_from_arrays

        return graphs_from_arrays(
            sizes,
            edge_index,
            y,
            attributes=attributes,
            labels=labels,
            edge_attributes=edge_attributes,
            edge_labels=edge_labels,
            coordinates=coordinates,
            name=name,
        )

    @classmethod
    def from_pyg(cls, graphs: "Iterable[Data]", *, name: str = "graphs") -> "GraphSet":
        """Return a set made from PyG graphs; see :mod:`lfds.data.readers.pyg`."""
        from lfds.data.readers.pyg import graphs_from_pyg

        return graphs_from_pyg(graphs, name=name)

    def to_pyg(self) -> "list[Data]":
        """Return the graphs as a list of PyG ``Data``; see :mod:`lfds.data.readers.pyg`."""
        from lfds.data.readers.pyg import graphs_to_pyg

        return graphs_to_pyg(self)

    @classmethod
    def from_networkx(
        cls,
        graphs: "Iterable[networkx.Graph]",
        y: "Array | None" = None,
        *,
        attributes: Sequence[str] = (),
        label: str | None = None,
        edge_attributes: Sequence[str] = (),
        edge_label: str | None = None,
        name: str = "graphs",
    ) -> "GraphSet":
        """Return a set made from NetworkX graphs; see :mod:`lfds.data.readers.networkx`."""
        from lfds.data.readers.networkx import graphs_from_networkx

        return graphs_from_networkx(
            graphs,
            y,
            attributes=attributes,
            label=label,
            edge_attributes=edge_attributes,
            edge_label=edge_label,
            name=name,
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Save the set to the folder ``path`` (safetensors and JSON), completely or not at all.

        A set saved there before is replaced; a folder with other files, or a link, is an error.
        """
        from lfds.data.storage import save

        save(self, path)

    @staticmethod
    def load(path: str | PathLike[str], *, mmap: bool = True) -> "GraphSet":
        """Load a saved set; with ``mmap`` it is read from disk on use and may exceed memory."""
        from lfds.data.storage import load

        return load(path, mmap=mmap)

    def to_tu(self, folder: str | PathLike[str]) -> None:
        """Write the set as a TU dataset; see :func:`lfds.data.readers.tu_files.write_tu`."""
        from lfds.data.readers.tu_files import write_tu

        write_tu(self, folder)


def _checked(features: Tensor, count: int, name: str, owner: str) -> Tensor:
    """Return features of nodes or edges in single precision, all of them finite."""
    if features.ndim != 2 or len(features) != count:
        raise DataError(
            f"needs one row for each of {count} {owner}s, not shape {tuple(features.shape)}",
            source=name,
        )
    single = features.to(torch.float32)
    if not single.isfinite().all():
        row, column = (~single.isfinite()).nonzero()[0].tolist()
        raise DataError(
            f"column {column} of {owner} {row} is not finite in single precision; "
            f"impute, scale or drop that column",
            source=name,
        )
    return single
