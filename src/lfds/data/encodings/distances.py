"""Distances of nodes inside an embedding, which rotations of the embedding do not change."""

from typing import ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from lfds.data.encodings.base import StructuralEncoding, degrees
from lfds.data.encodings.netmf import NetMF, netmf

Reals = NDArray[np.float64]

# Distances computed at a time: as many as fit into the CPU cache.
_BLOCK_NUMBERS = 2**18
# Eigenvalues closer than this share of the largest are equal up to rounding.
_TOLERANCE = 1e-6


@final
class Distances(StructuralEncoding):
    """Settings of the distances inside an embedding by NetMF.

    Attributes:
        dimensions: Largest number of columns of the embedding.
        window: Longest distance along a walk between two nodes of a pair.
        quantiles: Number of quantiles of the distances to all other nodes.
    """

    # A change of the embedding changes the distances.
    version: ClassVar[int] = NetMF.version
    kind: Literal["distances"] = "distances"
    dimensions: PositiveInt = 12
    window: PositiveInt = 5
    quantiles: PositiveInt = 5

    @property
    def width(self) -> int:
        return 3 + self.quantiles

    def encode(self, graph: csr_array) -> Reals:
        embedding = complete_eigenspaces(graph, self.dimensions, self.window)
        return np.hstack([to_neighbours(graph, embedding), to_others(embedding, self.quantiles)])


def complete_eigenspaces(graph: csr_array, dimensions: int, window: int) -> Reals:
    r"""Return the embedding ``[nodes, at most dimensions]`` by NetMF, without a cut eigenspace.

    The norm of column k is :math:`|\lambda_k|^{1/2}`. A solver may rotate columns whose eigenvalues
    have equal absolute values. This changes no distance if all of them are used. If the last
    dimension fell among them, some would be left out, which ones would depend on the order of the
    nodes, and so would the distances. So one more column is computed, and dropped together with
    all columns of the same norm.
    """
    columns = netmf(graph, NetMF(dimensions=dimensions + 1, window=window))
    sizes = np.square(columns).sum(axis=0)
    return columns[:, sizes > sizes[-1] + _TOLERANCE * sizes[0]]


def to_neighbours(graph: csr_array, embedding: Reals) -> Reals:
    """Return mean, smallest and largest distance ``[nodes, 3]`` to neighbors; 0 without any."""
    found = np.zeros((graph.shape[0], 3))
    counts = degrees(graph)
    connected = counts > 0
    if not connected.any():
        return found
    receivers = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    lengths = np.linalg.norm(embedding[receivers] - embedding[graph.indices], axis=1)
    starts = graph.indptr[:-1][connected]
    found[connected, 0] = np.add.reduceat(lengths, starts) / counts[connected]
    found[connected, 1] = np.minimum.reduceat(lengths, starts)
    found[connected, 2] = np.maximum.reduceat(lengths, starts)
    return found


def to_others(embedding: Reals, quantiles: int) -> Reals:
    r"""Return increasing quantiles ``[nodes, quantiles]`` of the distances to all other nodes.

    They are the middles of equal shares, by linear interpolation:

    .. math::
        q_{ik} = \operatorname{quantile}_{p_k} \{\, \|z_i - z_j\| : j \ne i \,\}, \qquad
        p_k = \frac{k - 1/2}{q}, \quad k = 1, \dots, q

    All distances are computed, a block of nodes at a time. Without other nodes they are 0.
    """
    count = len(embedding)
    found = np.zeros((count, quantiles))
    if count < 2:
        return found
    # Sorted, the distance of a node to itself is the first: the others are 1, ..., count - 1.
    places = 1 + (np.arange(quantiles) + 0.5) / quantiles * (count - 2)
    low = np.floor(places).astype(np.int64)
    high = np.minimum(low + 1, count - 1)
    width = max(1, _BLOCK_NUMBERS // count)
    for start in range(0, count, width):
        nodes = slice(start, start + width)
        # Not by scalar products, whose rounding would separate equal nodes.
        lengths = cdist(embedding[nodes], embedding)
        lengths.sort(axis=1)
        found[nodes] = lengths[:, low] + (places - low) * (lengths[:, high] - lengths[:, low])
    return found
