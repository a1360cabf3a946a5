"""Graphs from NetworkX."""

import hashlib
import json
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lfds.data.errors import DataError, quoted
from lfds.data.graphset import GraphSet
from lfds.data.readers.arrays import Array, graphs_from_arrays

if TYPE_CHECKING:
    import networkx


def graphs_from_networkx(
    graphs: "Iterable[networkx.Graph]",
    y: Array | None = None,
    *,
    attributes: Sequence[str] = (),
    label: str | None = None,
    edge_attributes: Sequence[str] = (),
    edge_label: str | None = None,
    name: str = "graphs",
) -> GraphSet:
    """Return a set of NetworkX graphs; an undirected edge is stored in both directions.

    Args:
        graphs: Graphs; their nodes are numbered in the order of ``graph.nodes``.
        y: One target per graph; ``None`` takes ``graph.graph["y"]`` if every graph has it.
        attributes: Names of node data with numbers.
        label: Name of node data with categories: integers, or names throughout.
        edge_attributes: Names of edge data with numbers.
        edge_label: Name of edge data with categories: integers, or names throughout.
        name: Name of the set.
    """
    items = list(graphs)
    if not items:
        raise DataError("needs at least one graph", source="graphs")
    if not all(map(_is_graph, items)):
        raise DataError("needs a list of NetworkX graphs; put a single one in [ ]", source="graphs")
    edges: list[tuple[int, int]] = []
    edge_values: list[list[object]] = []
    wanted = [*edge_attributes, *([] if edge_label is None else [edge_label])]
    nodes, links = _Categories(label), _Categories(edge_label)
    first = 0
    for position, graph in enumerate(items):
        number = {node: first + place for place, node in enumerate(graph.nodes)}
        for one, two, data in graph.edges(data=True):
            values = _values(data, wanted, f"edge {quoted((one, two))}", position, links)
            edges.append((number[one], number[two]))
            edge_values.append(values)
            if not graph.is_directed() and one != two:
                edges.append((number[two], number[one]))
                edge_values.append(values)
        first += len(number)
    # Apart: beside numbers with a point, categories would become such numbers.
    count = len(edge_attributes)
    numbers = np.array([one[:count] for one in edge_values]).reshape(len(edges), count)
    kinds = np.array([one[count:] for one in edge_values]).reshape(len(edges), len(wanted) - count)
    made = graphs_from_arrays(
        [len(graph) for graph in items],
        np.array(edges, dtype=np.int64).reshape(-1, 2).T,
        _targets(items) if y is None else y,
        attributes=_node_values(items, attributes) if attributes else None,
        labels=_node_values(items, [label], nodes) if label is not None else None,
        edge_attributes=numbers if edge_attributes and edges else None,
        edge_labels=kinds if edge_label is not None and edges else None,
        name=name,
    )
    names = {**nodes.names, **links.names}
    if not names:
        return made
    return replace(made, provenance={**made.provenance, CATEGORIES: json.dumps(names)})


CATEGORIES = "categories"
"""The key of ``provenance`` under which the names of categories are, as JSON."""


def category_names(graphs: GraphSet) -> dict[int, str]:
    """Return the names of categories by the integers that stand for them."""
    stored = json.loads(str(graphs.provenance.get(CATEGORIES, "{}")))
    return {int(number): str(name) for number, name in stored.items()}


class _Categories:
    """Integers for the names of one category.

    The integer of a name is its hash, the same in every set: a model needs no list of names.
    """

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.names: dict[int, str] = {}
        self._kind: type | None = None

    def number(self, value: object, owner: str, position: int) -> object:
        """Return the integer of a category."""
        kind = str if isinstance(value, str) else int
        if self._kind not in (None, kind):
            raise DataError(
                f"{owner} has {quoted(value)} as {quoted(self.name)}, and others have "
                f"{'names' if self._kind is str else 'integers'}; use one of both throughout",
                source=f"graph {position}",
            )
        self._kind = kind
        if not isinstance(value, str):
            return value
        digest = hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest, "little") >> _UNUSED_BITS
        self.names[number] = value
        return number


# Integers of 52 bits are exact as floats, too.
_UNUSED_BITS = 12


def _is_graph(item: object) -> bool:
    # A class has the attributes of its graphs as well.
    return hasattr(item, "edges") and hasattr(item, "nodes") and not isinstance(item, type)


def _node_values(
    graphs: "Sequence[networkx.Graph]",
    names: Sequence[str],
    categories: "_Categories | None" = None,
) -> Array:
    return np.array(
        [
            _values(data, names, f"node {quoted(node)}", position, categories)
            for position, graph in enumerate(graphs)
            for node, data in graph.nodes(data=True)
        ]
    ).reshape(-1, len(names))


def _values(
    data: dict[Hashable, object],
    names: Sequence[str],
    owner: str,
    position: int,
    categories: "_Categories | None" = None,
) -> list[object]:
    missing = [name for name in names if name not in data]
    if missing:
        known = f"only {quoted(', '.join(map(str, data)))}" if data else "no data"
        problem = f"{owner} lacks {quoted(missing[0])}; it has {known}"
        raise DataError(problem, source=f"graph {position}")
    values = [data[name] for name in names]
    for place, (name, value) in enumerate(zip(names, values, strict=True)):
        if categories is not None and name == categories.name:
            values[place] = value = categories.number(value, owner, position)
        if not isinstance(value, int | float | np.number):
            raise DataError(
                f"{owner} needs a number as {quoted(name)}, not {quoted(value)}",
                source=f"graph {position}",
            )
    return values


def _targets(graphs: "Sequence[networkx.Graph]") -> Array | None:
    present = ["y" in graph.graph for graph in graphs]
    if not any(present):
        return None
    if not all(present):
        missing = present.index(False)
        raise DataError('lacks graph["y"], which other graphs have', source=f"graph {missing}")
    return np.array([graph.graph["y"] for graph in graphs])
