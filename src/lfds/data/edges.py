"""Edges in their four forms, and the conversions between them.

- **pairs** ``[edges, 2]``, one row per edge, as files list them;
- **edge index** ``[2, edges]``, senders above receivers, as in PyG; numbered over the whole set;
- **rows** (CSR): for each node the nodes from which it receives, as a GraphSet stores them;
- **adjacency**: the undirected simple graph as a matrix, as structural encodings read it.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lfds.data.errors import DataError

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class EdgeRows:
    """Edges in CSR form.

    Attributes:
        ptr: Where the row of each node begins.
        senders: The node each edge comes from, numbered inside its graph.
        positions: The position of each edge in the edge index; ``None`` if not requested.
        duplicates: Number of edges that repeated an earlier one and were left out.
    """

    ptr: Ints
    senders: NDArray[np.int32]
    positions: Ints | None
    duplicates: int

    def take(self, table: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return the rows of an edge-level table that belong to these edges."""
        # Positions are requested for every table with columns; the others only need a length.
        return table[: len(self.senders)] if self.positions is None else table[self.positions]


class InvalidEdgeError(DataError):
    """An edge has a node that does not exist, or connects two graphs."""

    def __init__(self, edge: int, problem: str) -> None:
        super().__init__(f"edge {edge} {problem}", source="edges")
        self.edge = edge
        self.problem = problem


def both_directions(pairs: Ints) -> Ints:
    """Return the edge index of undirected pairs ``[edges, 2]``: as given, then all reversed."""
    return np.concatenate([pairs, pairs[:, ::-1]]).T


def rows_from_edge_index(ptr: Ints, edge_index: Ints, *, keep_positions: bool) -> EdgeRows:
    """Sort edges by receiver, then by sender; of equal edges the first is kept.

    Args:
        ptr: Nodes of graph ``g`` are ``ptr[g]:ptr[g + 1]``.
        edge_index: Checked by :func:`check_edges`.
        keep_positions: Whether edge-level tables have to be sorted along.
    """
    num_nodes = int(ptr[-1])
    key = edge_index[1] * num_nodes + edge_index[0]
    positions: Ints | None = None
    if keep_positions:
        key, positions = np.unique(key, return_index=True)
    else:
        key = _unique(key)
    receivers, senders = np.divmod(key, max(num_nodes, 1))
    return EdgeRows(
        ptr=np.concatenate([[0], np.bincount(receivers, minlength=num_nodes).cumsum()]),
        senders=(senders - _first_nodes(ptr)[senders]).astype(np.int32),
        positions=positions,
        duplicates=edge_index.shape[1] - len(key),
    )


def edge_index_from_rows(ptr: Ints, edge_ptr: Ints, edge_dst: NDArray[np.integer]) -> Ints:
    """Return the edge index of the rows of a GraphSet, sorted by receiver."""
    receivers = np.repeat(np.arange(len(edge_ptr) - 1), np.diff(edge_ptr))
    return np.stack([edge_dst + _first_nodes(ptr)[receivers], receivers])


def undirected(senders: Ints, receivers: Ints, num_nodes: int) -> tuple[Ints, Ints]:
    """Return both directions of every edge, sorted, without repeated edges and self loops."""
    different = senders != receivers
    senders, receivers = senders[different], receivers[different]
    keys = np.concatenate([senders * num_nodes + receivers, receivers * num_nodes + senders])
    return np.divmod(np.unique(keys), max(num_nodes, 1))


def adjacency(edge_ptr: Ints, edge_dst: NDArray[np.integer]) -> csr_array:
    """Return the symmetric 0/1 matrix ``[nodes, nodes]`` of one graph given by its rows.

    Directions, repeated edges and self loops are dropped, so that a random walk can always
    return and every structural encoding is defined for every graph.

    >>> adjacency(np.array([0, 1, 1]), np.array([1])).toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    count = len(edge_ptr) - 1
    receivers = np.repeat(np.arange(count), np.diff(edge_ptr))
    rows, columns = undirected(edge_dst.astype(np.int64), receivers, count)
    ptr = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(np.bincount(rows, minlength=count), out=ptr[1:])
    return csr_array((np.ones(len(rows)), columns.astype(np.int32), ptr), shape=(count, count))


def check_edges(ptr: Ints, edge_index: Ints, *, first: int = 0) -> None:
    """Raise for the first edge with a node that does not exist, or that connects two graphs.

    Args:
        ptr: Nodes of graph ``g`` are ``ptr[g]:ptr[g + 1]``.
        edge_index: ``[2, edges]``, numbered from 0 over the whole set.
        first: The number of the first node and graph in messages.
    """
    num_nodes = int(ptr[-1])
    for nodes in edge_index:
        outside = (nodes < 0) | (nodes >= num_nodes)
        if outside.any():
            edge = int(outside.argmax())
            raise InvalidEdgeError(
                edge,
                f"names node {int(nodes[edge]) + first}, but the nodes are "
                f"{first} to {num_nodes - 1 + first}",
            )
    graph_of_node = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    graphs = graph_of_node[edge_index]
    crossing = graphs[0] != graphs[1]
    if crossing.any():
        edge = int(crossing.argmax())
        (sender, receiver), (one, other) = edge_index[:, edge] + first, graphs[:, edge] + first
        raise InvalidEdgeError(
            edge,
            f"joins node {sender} of graph {one} and node {receiver} of graph {other}; "
            "an edge stays inside its graph",
        )


def _first_nodes(ptr: Ints) -> Ints:
    """Return for each node the first node of its graph."""
    return np.repeat(ptr[:-1], np.diff(ptr))


def _unique(key: Ints) -> Ints:
    # Faster than numpy.unique where the positions are not needed.
    key = np.sort(key)
    new = np.ones(len(key), dtype=bool)
    np.not_equal(key[1:], key[:-1], out=new[1:])
    return key[new]
