"""What structural encodings read of a graph: its undirected simple adjacency."""

import hashlib

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Whole = NDArray[np.int64]


def adjacency(edge_ptr: Whole, edge_dst: Whole) -> csr_array:
    """Return the symmetric 0/1 matrix ``[nodes, nodes]`` of a graph given by its CSR rows.

    Directions, repeated edges and self loops are forgotten, so that a walk is always free to
    return and every encoding below is defined for every graph.

    >>> adjacency(np.array([0, 1, 1]), np.array([1])).toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    count = len(edge_ptr) - 1
    receivers = np.repeat(np.arange(count), np.diff(edge_ptr))
    senders = edge_dst.astype(np.int64)
    apart = receivers != senders
    receivers, senders = receivers[apart], senders[apart]
    keys = np.unique(np.concatenate([receivers * count + senders, senders * count + receivers]))
    rows, columns = np.divmod(keys, max(count, 1))
    ptr = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(np.bincount(rows, minlength=count), out=ptr[1:])
    return csr_array((np.ones(len(keys)), columns.astype(np.int32), ptr), shape=(count, count))


def degrees(graph: csr_array) -> NDArray[np.float64]:
    """Neighbours of each node."""
    counts: NDArray[np.float64] = np.diff(graph.indptr).astype(np.float64)
    return counts


def normalised(graph: csr_array) -> csr_array:
    r"""Return :math:`D^{-1/2} A D^{-1/2}`; rows of nodes without neighbours stay zero."""
    scale = 1 / np.sqrt(np.maximum(degrees(graph), 1.0))
    weights = np.repeat(scale, np.diff(graph.indptr)) * scale[graph.indices]
    return csr_array((weights, graph.indices, graph.indptr), shape=graph.shape)


def fingerprint(graph: csr_array) -> str:
    """Return a name for the graph's content: 64 hexadecimal digits."""
    digest = hashlib.sha256(graph.indptr.astype("<i8").tobytes())
    digest.update(graph.indices.astype("<i8").tobytes())
    return digest.hexdigest()
