"""A list of edges becomes rows: checked, sorted, each edge once, numbered inside its graph."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lfds.data.errors import DataError

Whole: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class EdgeRows:
    """Edges in CSR form.

    Attributes:
        ptr: Where the row of each node begins.
        other: The node each edge comes from, numbered inside its graph.
        kept: Which of the given edges each of these is; ``None`` when it was not asked for.
        duplicates: How many given edges repeated an earlier one and were left out.
    """

    ptr: Whole
    other: NDArray[np.int32]
    kept: Whole | None
    duplicates: int


class StrayEdgeError(DataError):
    """An edge names a node that is not there, or joins two graphs."""

    def __init__(self, edge: int, problem: str) -> None:
        super().__init__(f"edge {edge} {problem}", source="edges")
        self.edge = edge
        self.problem = problem


def edge_rows(ptr: Whole, source: Whole, target: Whole, *, keep_positions: bool) -> EdgeRows:
    """Sort edges by the node that receives, then by the node that sends; the first of equals stays.

    Args:
        ptr: Nodes of graph ``g`` are ``ptr[g]:ptr[g + 1]``.
        source: Sending node of each edge, numbered over the whole set.
        target: Receiving node of each edge, likewise.
        keep_positions: Whether something is known of each edge, so that ``kept`` is needed.
    """
    num_nodes = int(ptr[-1])
    graph_of_node = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    _check_inside(num_nodes, graph_of_node, source, target)
    given = len(source)
    key = target * num_nodes + source
    kept: Whole | None = None
    if keep_positions:
        key, kept = np.unique(key, return_index=True)
    else:
        key = _sorted_once(key)
    target, source = np.divmod(key, max(num_nodes, 1))
    local = source - ptr[graph_of_node[source]]
    return EdgeRows(
        ptr=np.concatenate([[0], np.bincount(target, minlength=num_nodes).cumsum()]),
        other=local.astype(np.int32),
        kept=kept,
        duplicates=given - len(key),
    )


def _sorted_once(key: Whole) -> Whole:
    key = np.sort(key)
    first = np.ones(len(key), dtype=bool)
    np.not_equal(key[1:], key[:-1], out=first[1:])
    return key[first]


def _check_inside(num_nodes: int, graph_of_node: Whole, source: Whole, target: Whole) -> None:
    for node in (source, target):
        stray = (node < 0) | (node >= num_nodes)
        if stray.any():
            edge = int(stray.argmax())
            raise StrayEdgeError(
                edge, f"names node {int(node[edge])}, but nodes are 0 to {num_nodes - 1}"
            )
    crossing = graph_of_node[source] != graph_of_node[target]
    if crossing.any():
        edge = int(crossing.argmax())
        one, two = (int(graph_of_node[end[edge]]) for end in (source, target))
        raise StrayEdgeError(
            edge,
            f"joins node {int(source[edge])} of graph {one} "
            f"and node {int(target[edge])} of graph {two}; an edge stays inside its graph",
        )
