"""NetMF: what DeepWalk converges to, as a matrix factorised in closed form."""

from typing import ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveFloat, PositiveInt
from scipy.sparse import csr_array, vstack

from lfds.data.encodings.adjacency import degrees, normalised
from lfds.data.encodings.base import StructuralEncoding
from lfds.data.encodings.eigenvectors import largest

# Columns worked on at a time: as many as stay in the cache beside their image.
_BLOCK_NUMBERS = 2**18


@final
class NetMF(StructuralEncoding):
    """Settings of NetMF.

    Attributes:
        dimensions: Columns of the embedding.
        window: Longest distance along a walk that counts as being together.
        negatives: Negative samples of the skip-gram it stands for.
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
    r"""Return the embedding ``[nodes, dimensions]``, columns by falling weight.

    .. math::
        M = \log \max\Bigl(1, \frac{\mathrm{vol}}{b\,T} \sum_{r=1}^{T} (D^{-1} A)^r D^{-1}\Bigr),
        \qquad Z = U_d \, |\Lambda_d|^{1/2}

    with :math:`T` the window, :math:`b` the negatives, and :math:`U_d, \Lambda_d` the eigenpairs
    of :math:`M` of largest size. :math:`M` is symmetric, so its singular vectors are its
    eigenvectors. Each column is turned so that its largest entry is positive. Missing columns, as
    of a graph with fewer nodes than dimensions, are zero.
    """
    embedding = np.zeros((graph.shape[0], settings.dimensions))
    count = min(settings.dimensions, graph.shape[0])
    if graph.nnz:
        values, vectors = largest(_walk_matrix(graph, settings), count)
        embedding[:, :count] = vectors * np.sqrt(np.abs(values))
    return embedding


def _walk_matrix(graph: csr_array, settings: NetMF) -> csr_array:
    """Return :math:`M`, block by block: it is sparse, the powers behind it need not be."""
    count = graph.shape[0]
    step = normalised(graph)
    neighbours = degrees(graph)
    scale = 1 / np.sqrt(np.maximum(neighbours, 1.0))
    weight = neighbours.sum() / (settings.negatives * settings.window)
    width = max(1, _BLOCK_NUMBERS // count)
    blocks = []
    for start in range(0, count, width):
        nodes = np.arange(start, min(start + width, count))
        here = np.zeros((count, len(nodes)))
        here[nodes, nodes - start] = 1.0
        total = np.zeros_like(here)
        for _ in range(settings.window):
            here = step @ here
            total += here
        total *= weight * scale[:, None] * scale[nodes]
        blocks.append(csr_array(np.log(np.maximum(total, 1.0, out=total)).T))
    matrix = vstack(blocks, format="csr")
    # Rounding leaves the halves different in the last digit, and a solver would pick one.
    return (matrix + matrix.T) / 2
