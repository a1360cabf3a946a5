"""Whatever people call graphs becomes a GraphSet: PyG, NetworkX, plain arrays, or one already."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from lfds.data.concat import concat
from lfds.data.errors import DataError, quoted
from lfds.data.graphset import GraphSet
from lfds.data.readers.arrays import graphs_from_arrays
from lfds.data.readers.networkx import graphs_from_networkx
from lfds.data.readers.pyg import graphs_from_pyg

Graphs = GraphSet | Iterable[Any]


def as_graphs(
    given: Graphs,
    *,
    node_attributes: Sequence[str] = (),
    node_label: str | None = None,
    targets: bool = True,
) -> GraphSet:
    """Return what was given as one set.

    Args:
        given: A :class:`GraphSet`, or a list of sets, of PyG's ``Data``, of NetworkX graphs or of
            arrays ``[n, d]``, sets of n points without edges.
        node_attributes: Names of node data of NetworkX graphs that are numbers.
        node_label: Name of node data of NetworkX graphs that is a kind.
        targets: Whether targets that the graphs carry are read.
    """
    if isinstance(given, GraphSet):
        return _of_sets([given])
    items = _listed(given)
    if not items:
        raise DataError("needs at least one graph, and the list is empty", source="graphs")
    if isinstance(items[0], GraphSet):
        return _of_sets(items)
    if isinstance(items[0], Data):
        return graphs_from_pyg(items, targets=targets)
    if _is_networkx(items[0]):
        # Given targets keep the reader from looking for any.
        y = None if targets else np.zeros(len(items), dtype=np.int64)
        return graphs_from_networkx(items, y, attributes=list(node_attributes), label=node_label)
    return _of_points(items)


def _listed(given: Iterable[Any]) -> list[Any]:
    if isinstance(given, str | bytes) or hasattr(given, "__fspath__"):
        raise DataError(
            f"needs graphs, not the path {quoted(given)}; read it with lfds.data.read_any",
            source="graphs",
        )
    if isinstance(given, Data) or _is_networkx(given):
        raise DataError("needs a list of graphs; put a single one in [ ]", source="graphs")
    try:
        return list(given)
    except TypeError:
        raise DataError(
            f"needs a GraphSet or a list of graphs, not {type(given).__name__}", source="graphs"
        ) from None


def _is_networkx(item: object) -> bool:
    return hasattr(item, "nodes") and hasattr(item, "edges") and hasattr(item, "is_directed")


def _of_sets(sets: Sequence[Any]) -> GraphSet:
    for position, item in enumerate(sets):
        if not isinstance(item, GraphSet):
            raise DataError(
                f"needs a GraphSet, not {type(item).__name__}", source=f"set {position}"
            )
    graphs: GraphSet = sets[0] if len(sets) == 1 else concat(sets)
    if len(graphs) == 0:
        raise DataError("needs at least one graph, and the set is empty", source="graphs")
    if graphs.x is graphs.attributes or graphs.x.shape[1] == 0:
        return graphs
    # Somebody made features of their own: they are what is to be learned from, and nothing else.
    return replace(graphs, attributes=graphs.x, labels=graphs.labels[:, :0], label_values=())


def _of_points(items: Sequence[Any]) -> GraphSet:
    rows = [_points(item, position) for position, item in enumerate(items)]
    for position, points in enumerate(rows):
        if points.shape[1] != rows[0].shape[1]:
            raise DataError(
                f"needs {rows[0].shape[1]} columns as set 0 has, not {points.shape[1]}",
                source=f"set {position}",
            )
    sizes = [len(points) for points in rows]
    points = np.concatenate(rows)
    # Points of the plane or of space are drawn where they are.
    places = points if points.shape[1] in (2, 3) else None
    none = torch.zeros(2, 0).long()
    return graphs_from_arrays(sizes, none, attributes=points, coordinates=places)


def _points(item: Any, position: int) -> "np.ndarray[Any, Any]":
    try:
        points = np.asarray(item.detach().cpu() if isinstance(item, Tensor) else item)
    except (ValueError, TypeError):
        points = np.empty(0, dtype=object)
    if points.ndim != 2 or points.dtype.kind not in "iubf":
        raise DataError(
            "is no graph of PyG or NetworkX, and no set of points: that needs an array [n, d] of "
            f"numbers, not {type(item).__name__} of shape {list(points.shape)}",
            source=f"graph {position}",
        )
    return points
