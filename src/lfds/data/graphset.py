"""A whole dataset of graphs as one frozen record of flat tensors."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor

from lfds.data.batch import Batch, assemble
from lfds.data.errors import DataError
from lfds.data.selection import Choice, as_rows, pick, take

if TYPE_CHECKING:
    import networkx
    from torch_geometric.data import Data

    from lfds.data.readers.arrays import Given


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphSet:
    """Graphs laid end to end; a batch is a slice.

    Edges are kept in CSR form: row ``i`` of ``edge_ptr`` holds the nodes **from which** node ``i``
    receives, in rising order. In PyG's words ``edge_dst`` is ``edge_index[0]`` sorted by
    ``edge_index[1]``; undirected graphs hold both directions. Node numbers are local to their
    graph, so that taking a graph out needs no renumbering. Whatever a set does not have is there
    with width 0, never ``None``.

    Attributes:
        name: What the set is called in tables and messages.
        ptr: int64 ``[graphs + 1]``; nodes of graph ``g`` are ``ptr[g]:ptr[g + 1]``.
        x: float32 ``[nodes, features]``, encoded and ready for a network; width 0 until encoded.
        attributes: float32 ``[nodes, a]``, measured quantities as they were read.
        labels: int64 ``[nodes, l]``, kinds, with their original values.
        label_values: For each column of ``labels`` its original values, rising.
        edge_ptr: int64 ``[nodes + 1]``.
        edge_dst: int32 ``[edges]``.
        edge_attributes: float32 ``[edges, ea]``.
        edge_labels: int64 ``[edges, el]``, with their original values.
        y: int64 ``[graphs]``, positions in ``classes``; or float32 ``[graphs]`` or
            ``[graphs, targets]`` where something is to be regressed; ``[graphs, 0]`` where nothing
            is known of them.
        classes: The original name of each class; empty for regression, and without targets.
        coordinates: float32 ``[nodes, c]``, where the nodes are in space. For drawing alone: no
            encoder, batch or network gets to see them. Width 0 when left out.
        provenance: Where the set came from and what was done to it on the way.
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
    provenance: Mapping[str, str | int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.coordinates.shape == (0, 0):  # left out: no columns, but a row for every node
            object.__setattr__(self, "coordinates", torch.empty(self.num_nodes, 0))

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def __getitem__(self, choice: Choice) -> Self:
        picked = pick(self.ptr, self.edge_ptr, as_rows(choice, len(self)))
        attributes = take(self.attributes, picked.nodes)
        return replace(
            self,
            ptr=torch.from_numpy(picked.ptr),
            x=attributes if self.x is self.attributes else take(self.x, picked.nodes),
            attributes=attributes,
            labels=take(self.labels, picked.nodes),
            edge_ptr=torch.from_numpy(picked.edge_ptr),
            edge_dst=take(self.edge_dst, picked.edges),
            edge_attributes=take(self.edge_attributes, picked.edges),
            edge_labels=take(self.edge_labels, picked.edges),
            y=take(self.y, picked.graphs),
            coordinates=take(self.coordinates, picked.nodes),
        )

    def __repr__(self) -> str:
        return (
            f"GraphSet({self.name!r}, graphs={len(self)}, nodes={self.num_nodes}, "
            f"edges={self.num_edges}, features={self.x.shape[1]}, "
            f"attributes={self.attributes.shape[1]}, labels={self.labels.shape[1]}, "
            f"classes={self.num_classes})"
        )

    @property
    def num_nodes(self) -> int:
        """Nodes of all graphs."""
        return len(self.edge_ptr) - 1

    @property
    def num_edges(self) -> int:
        """Directed edges of all graphs: an undirected edge counts twice, a self loop once."""
        return len(self.edge_dst)

    @property
    def num_classes(self) -> int:
        """Classes of the whole set it was taken from; 0 for regression and without targets."""
        return len(self.classes)

    @property
    def has_targets(self) -> bool:
        """Whether anything is known of the graphs that could be learned or judged by."""
        return self.y.ndim == 1 or self.y.shape[1] > 0

    @cached_property
    def sizes(self) -> Tensor:
        """Nodes of each graph."""
        return self.ptr.diff()

    @cached_property
    def degrees(self) -> Tensor:
        """Edges received by each node."""
        return self.edge_ptr.diff()

    def batch(self, graphs: Choice) -> Batch:
        """Assemble a ragged batch of these graphs, without a Python object per graph."""
        picked = pick(self.ptr, self.edge_ptr, as_rows(graphs, len(self)))
        return assemble(
            picked, self.x, self.edge_dst, self.y, self.edge_attributes, self.edge_labels
        )

    def with_features(self, x: Tensor) -> Self:
        """Return the same graphs with ``x`` as what a network gets to see of each node."""
        if x.ndim != 2 or len(x) != self.num_nodes:
            raise DataError(
                f"features need one row for each of {self.num_nodes} nodes, "
                f"not shape {tuple(x.shape)}",
                source="x",
            )
        single = x.to(torch.float32)
        if not single.isfinite().all():
            node, column = (~single.isfinite()).nonzero()[0].tolist()
            raise DataError(
                f"column {column} of node {node} is not finite in single precision; "
                f"fill it in, or scale or leave out that column",
                source="x",
            )
        return replace(self, x=single)

    def equals(self, other: "GraphSet") -> bool:
        """Whether both hold the same graphs in the same order; provenance does not count."""
        for entry in fields(self):
            mine, theirs = getattr(self, entry.name), getattr(other, entry.name)
            if isinstance(mine, Tensor):
                if mine.dtype != theirs.dtype or not torch.equal(mine, theirs):
                    return False
            elif entry.name != "provenance" and mine != theirs:
                return False
        return True

    @classmethod
    def from_arrays(
        cls,
        sizes: "Given",
        edge_index: "Given",
        y: "Given | None" = None,
        *,
        attributes: "Given | None" = None,
        labels: "Given | None" = None,
        edge_attributes: "Given | None" = None,
        edge_labels: "Given | None" = None,
        coordinates: "Given | None" = None,
        name: str = "graphs",
    ) -> "GraphSet":
        """Make a set from plain arrays; see :func:`lfds.data.readers.arrays.graphs_from_arrays`."""
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
        """Make a set of PyG's Data objects; see :mod:`lfds.data.readers.pyg`."""
        from lfds.data.readers.pyg import graphs_from_pyg

        return graphs_from_pyg(graphs, name=name)

    def to_pyg(self) -> "list[Data]":
        """Return the graphs as PyG's Data objects; see :mod:`lfds.data.readers.pyg`."""
        from lfds.data.readers.pyg import graphs_to_pyg

        return graphs_to_pyg(self)

    @classmethod
    def from_networkx(
        cls,
        graphs: "Iterable[networkx.Graph]",
        y: "Given | None" = None,
        *,
        attributes: Sequence[str] = (),
        label: str | None = None,
        edge_attributes: Sequence[str] = (),
        name: str = "graphs",
    ) -> "GraphSet":
        """Make a set of NetworkX graphs; see :mod:`lfds.data.readers.networkx`."""
        from lfds.data.readers.networkx import graphs_from_networkx

        return graphs_from_networkx(
            graphs,
            y,
            attributes=attributes,
            label=label,
            edge_attributes=edge_attributes,
            name=name,
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the set to the folder ``path`` (safetensors and JSON), whole or not at all.

        A set saved there before is replaced; a folder with anything else in it, and a link, are
        refused.
        """
        from lfds.data.storage import save

        save(self, path)

    @staticmethod
    def load(path: str | PathLike[str], *, mmap: bool = True) -> "GraphSet":
        """Read a saved set; with ``mmap`` from disk as it is used, so it may exceed memory."""
        from lfds.data.storage import load

        return load(path, mmap=mmap)

    def to_tu(self, folder: str | PathLike[str]) -> None:
        """Write the set as a TU dataset; see :mod:`lfds.data.readers.tu_write`."""
        from lfds.data.readers.tu_write import write_tu

        write_tu(self, folder)
