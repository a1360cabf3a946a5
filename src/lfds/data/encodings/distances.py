"""Distances inside an embedding: how far a node is from the others, whichever way it is turned."""

from typing import ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from lfds.data.encodings.adjacency import degrees
from lfds.data.encodings.base import StructuralEncoding
from lfds.data.encodings.netmf import NetMF, netmf

Reals = NDArray[np.float64]

# Distances worked on at a time: as many as stay in the cache.
_BLOCK_NUMBERS = 2**18
# Weights closer than this share of the largest are equal: rounding alone parts them.
_TIE = 1e-6


@final
class Distances(StructuralEncoding):
    """Settings of the distances inside an embedding by NetMF.

    Attributes:
        dimensions: Columns of the embedding, at most.
        window: Longest distance along a walk that counts as being together.
        quantiles: Numbers that stand for the distances to all other nodes.
    """

    # Other embeddings have other distances: what was cached is forgotten with theirs.
    version: ClassVar[int] = NetMF.version
    kind: Literal["distances"] = "distances"
    dimensions: PositiveInt = 12
    window: PositiveInt = 5
    quantiles: PositiveInt = 5

    @property
    def width(self) -> int:
        return 3 + self.quantiles

    def encode(self, graph: csr_array) -> Reals:
        embedding = whole_eigenspaces(graph, self.dimensions, self.window)
        return np.hstack([to_neighbours(graph, embedding), to_others(embedding, self.quantiles)])


def whole_eigenspaces(graph: csr_array, dimensions: int, window: int) -> Reals:
    r"""Return the embedding ``[nodes, at most dimensions]`` by NetMF, without its cut eigenspace.

    The length of column k is :math:`|\lambda_k|^{1/2}`. Where several eigenvalues are of equal
    size, a solver is free to turn their columns into each other. This changes no distance as long
    as all of them are taken. If the last dimension fell among them, it would take some: which
    ones would depend on the order of the nodes, and so would the distances. So one column more is
    asked for, and it is left out together with all those of its size.
    """
    columns = netmf(graph, NetMF(dimensions=dimensions + 1, window=window))
    sizes = np.square(columns).sum(axis=0)
    return columns[:, sizes > sizes[-1] + _TIE * sizes[0]]


def to_neighbours(graph: csr_array, embedding: Reals) -> Reals:
    """Return mean, smallest and largest distance ``[nodes, 3]`` to neighbours; 0 without any."""
    found = np.zeros((graph.shape[0], 3))
    neighbours = degrees(graph)
    joined = neighbours > 0
    if not joined.any():
        return found
    receivers = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    lengths = np.linalg.norm(embedding[receivers] - embedding[graph.indices], axis=1)
    starts = graph.indptr[:-1][joined]
    found[joined, 0] = np.add.reduceat(lengths, starts) / neighbours[joined]
    found[joined, 1] = np.minimum.reduceat(lengths, starts)
    found[joined, 2] = np.maximum.reduceat(lengths, starts)
    return found


def to_others(embedding: Reals, quantiles: int) -> Reals:
    r"""Return quantiles ``[nodes, quantiles]`` of the distances to all other nodes, rising.

    They stand in the middle of equal shares, between two distances in proportion:

    .. math::
        q_{ik} = \operatorname{quantile}_{p_k} \{\, \|z_i - z_j\| : j \ne i \,\}, \qquad
        p_k = \frac{k - 1/2}{q}, \quad k = 1, \dots, q

    All distances are taken, a block of nodes at a time. They are 0 where there is no other node.
    """
    count = len(embedding)
    found = np.zeros((count, quantiles))
    if count < 2:
        return found
    # Sorted, a node comes first among its own distances: the others are 1, ..., count - 1.
    places = 1 + (np.arange(quantiles) + 0.5) / quantiles * (count - 2)
    low = np.floor(places).astype(np.int64)
    high = np.minimum(low + 1, count - 1)
    width = max(1, _BLOCK_NUMBERS // count)
    for start in range(0, count, width):
        nodes = slice(start, start + width)
        # Not by products, whose rounding would part nodes that lie in the same place.
        lengths = cdist(embedding[nodes], embedding)
        lengths.sort(axis=1)
        found[nodes] = lengths[:, low] + (places - low) * (lengths[:, high] - lengths[:, low])
    return found
