"""Graphs from NetworkX."""

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lfds.data.errors import DataError, quoted
from lfds.data.graphset import GraphSet
from lfds.data.readers.arrays import Given, graphs_from_arrays

if TYPE_CHECKING:
    import networkx


def graphs_from_networkx(
    graphs: "Iterable[networkx.Graph]",
    y: Given | None = None,
    *,
    attributes: Sequence[str] = (),
    label: str | None = None,
    edge_attributes: Sequence[str] = (),
    name: str = "graphs",
) -> GraphSet:
    """Make a set of NetworkX graphs; an undirected edge is kept in both directions.

    Args:
        graphs: Graphs; nodes may be named by anything and are numbered in the graph's own order.
        y: One target per graph; left out, ``graph.graph["y"]`` is taken if every graph has it.
        attributes: Names of node data that are numbers.
        label: Name of node data that is a kind, as a whole number.
        edge_attributes: Names of edge data that are numbers.
        name: What the set is called.
    """
    items = list(graphs)
    if not items:
        raise DataError("needs at least one graph", source="graphs")
    if not all(hasattr(item, "edges") and hasattr(item, "nodes") for item in items):
        raise DataError("needs a list of NetworkX graphs; put a single one in [ ]", source="graphs")
    edges: list[tuple[int, int]] = []
    known_of_edges: list[list[object]] = []
    first = 0
    for position, graph in enumerate(items):
        number = {node: first + place for place, node in enumerate(graph.nodes)}
        for one, two, data in graph.edges(data=True):
            known = _known(data, edge_attributes, f"edge {quoted((one, two))}", position)
            edges.append((number[one], number[two]))
            known_of_edges.append(known)
            if not graph.is_directed() and one != two:
                edges.append((number[two], number[one]))
                known_of_edges.append(known)
        first += len(number)
    return graphs_from_arrays(
        [len(graph) for graph in items],
        np.array(edges, dtype=np.int64).reshape(-1, 2).T,
        _targets(items) if y is None else y,
        attributes=_of_nodes(items, attributes) if attributes else None,
        labels=_of_nodes(items, [label]) if label is not None else None,
        edge_attributes=np.array(known_of_edges) if edge_attributes and edges else None,
        name=name,
    )


def _of_nodes(graphs: "Sequence[networkx.Graph]", names: Sequence[str]) -> Given:
    return np.array(
        [
            _known(data, names, f"node {quoted(node)}", position)
            for position, graph in enumerate(graphs)
            for node, data in graph.nodes(data=True)
        ]
    ).reshape(-1, len(names))


def _known(
    data: dict[Hashable, object], names: Sequence[str], of: str, position: int
) -> list[object]:
    missing = [name for name in names if name not in data]
    if missing:
        raise DataError(f"{of} lacks {quoted(missing[0])}", source=f"graph {position}")
    values = [data[name] for name in names]
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, int | float | np.number):
            raise DataError(
                f"{of} needs a number as {quoted(name)}, not {quoted(value)}",
                source=f"graph {position}",
            )
    return values


def _targets(graphs: "Sequence[networkx.Graph]") -> Given | None:
    known = ["y" in graph.graph for graph in graphs]
    if not any(known):
        return None
    if not all(known):
        raise DataError('lacks graph["y"], which others have', source=f"graph {known.index(False)}")
    return np.array([graph.graph["y"] for graph in graphs])
