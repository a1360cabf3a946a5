"""NetMF: the limit of DeepWalk as a matrix factorization."""

from typing import ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveFloat, PositiveInt
from scipy.sparse import csr_array, vstack

from lfds.data.encodings.base import StructuralEncoding, degrees, normalized
from lfds.data.encodings.eigenvectors import largest

# Numbers of the columns computed at a time: as many as fit into the CPU cache twice.
_BLOCK_NUMBERS = 2**18


@final
class NetMF(StructuralEncoding):
    """Settings of NetMF.

    Attributes:
        dimensions: Number of columns.
        window: Longest distance along a walk between two nodes of a pair.
        negatives: Number of negative samples of the corresponding skip-gram model.
    """

    version: ClassVar[int] = 2
    kind: Literal["netmf"] = "netmf"
    dimensions: PositiveInt = 12
    window: PositiveInt = 5
    negatives: PositiveFloat = 1.0

    @property
    def width(self) -> int:
        return self.dimensions

    def encode(self, graph: csr_array) -> NDArray[np.float64]:
        return netmf(graph, self)


def netmf(graph: csr_array, settings: NetMF) -> NDArray[np.float64]:
    r"""Return the embedding ``[nodes, dimensions]``, columns by decreasing eigenvalue.

    .. math::
        M = \log \max\Bigl(1, \frac{\mathrm{vol}}{b\,T} \sum_{r=1}^{T} (D^{-1} A)^r D^{-1}\Bigr),
        \qquad Z = U_d \, |\Lambda_d|^{1/2}

    with :math:`T` the window, :math:`b` the negatives, and :math:`U_d, \Lambda_d` the eigenpairs
    of :math:`M` of largest absolute value. :math:`M` is symmetric, so its singular vectors are its
    eigenvectors. The sign makes the largest entry of each column positive. Missing columns, as of
    a graph with fewer nodes than dimensions, are zero.
    """
    embedding = np.zeros((graph.shape[0], settings.dimensions))
    count = min(settings.dimensions, graph.shape[0])
    if graph.nnz:
        values, vectors = largest(_walk_matrix(graph, settings), count)
        embedding[:, :count] = vectors * np.sqrt(np.abs(values))
    return embedding


def _walk_matrix(graph: csr_array, settings: NetMF) -> csr_array:
    """Return :math:`M`, computed block by block: it is sparse, the powers need not be."""
    count = graph.shape[0]
    step = normalized(graph)
    counts = degrees(graph)
    scale = 1 / np.sqrt(np.maximum(counts, 1.0))
    weight = counts.sum() / (settings.negatives * settings.window)
    width = max(1, _BLOCK_NUMBERS // count)
    blocks = []
    for start in range(0, count, width):
        nodes = np.arange(start, min(start + width, count))
        walk = np.zeros((count, len(nodes)))
        walk[nodes, nodes - start] = 1.0
        total = np.zeros_like(walk)
        for _ in range(settings.window):
            walk = step @ walk
            total += walk
        total *= weight * scale[:, None] * scale[nodes]
        blocks.append(csr_array(np.log(np.maximum(total, 1.0, out=total)).T))
    matrix = vstack(blocks, format="csr")
    # Rounding makes the two triangles differ in the last digit, and a solver reads one of them.
    return (matrix + matrix.T) / 2
