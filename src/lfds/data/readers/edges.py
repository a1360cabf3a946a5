"""A list of edges becomes rows: checked, sorted, each edge once, numbered inside its graph."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

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

    def of_kept(self, table: NDArray[np.generic]) -> Tensor:
        """Return what is known of the edges that stay, row by row."""
        # Nothing is known of any edge where positions were not kept: the table has no columns.
        return torch.from_numpy(table[: len(self.other)] if self.kept is None else table[self.kept])


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
        source: Sending node of each edge, numbered over the whole set, as checked before.
        target: Receiving node of each edge, likewise.
        keep_positions: Whether something is known of each edge, so that ``kept`` is needed.
    """
    num_nodes = int(ptr[-1])
    key = target * num_nodes + source
    kept: Whole | None = None
    if keep_positions:
        key, kept = np.unique(key, return_index=True)
    else:
        key = _sorted_once(key)
    duplicates = len(source) - len(key)
    target, source = np.divmod(key, max(num_nodes, 1))
    first_of_graph = np.repeat(ptr[:-1], np.diff(ptr))
    return EdgeRows(
        ptr=np.concatenate([[0], np.bincount(target, minlength=num_nodes).cumsum()]),
        other=(source - first_of_graph[source]).astype(np.int32),
        kept=kept,
        duplicates=duplicates,
    )


def check_edges(ptr: Whole, source: Whole, target: Whole, *, counted_from: int = 0) -> None:
    """Raise for the first edge that names a node that is not there, or joins two graphs.

    Args:
        ptr: Nodes of graph ``g`` are ``ptr[g]:ptr[g + 1]``.
        source: Sending node of each edge, numbered from 0 over the whole set.
        target: Receiving node of each edge, likewise.
        counted_from: How the user counts nodes and graphs, for the message.
    """
    num_nodes = int(ptr[-1])
    low, high = counted_from, num_nodes - 1 + counted_from
    for node in (source, target):
        stray = (node < 0) | (node >= num_nodes)
        if stray.any():
            edge = int(stray.argmax())
            problem = f"names node {int(node[edge]) + low}, but the nodes are {low} to {high}"
            raise StrayEdgeError(edge, problem)
    graph_of_node = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    crossing = graph_of_node[source] != graph_of_node[target]
    if crossing.any():
        edge = int(crossing.argmax())
        nodes = [int(end[edge]) for end in (source, target)]
        graphs = [int(graph_of_node[node]) + low for node in nodes]
        raise StrayEdgeError(
            edge,
            f"joins node {nodes[0] + low} of graph {graphs[0]} and node {nodes[1] + low} of "
            f"graph {graphs[1]}; an edge stays inside its graph",
        )


def _sorted_once(key: Whole) -> Whole:
    key = np.sort(key)
    first = np.ones(len(key), dtype=bool)
    np.not_equal(key[1:], key[:-1], out=first[1:])
    return key[first]
