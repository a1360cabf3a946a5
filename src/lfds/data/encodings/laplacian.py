"""Laplacian eigenvectors: the slowest vibrations of a graph, as coordinates."""

from typing import ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from lfds.data.encodings.adjacency import degrees, normalised
from lfds.data.encodings.base import StructuralEncoding
from lfds.data.encodings.eigenvectors import smallest


@final
class Laplacian(StructuralEncoding):
    """Settings of the Laplacian encoding.

    Attributes:
        dimensions: Eigenvectors taken, after the first, which only knows the degrees.
    """

    version: ClassVar[int] = 2
    kind: Literal["laplacian"] = "laplacian"
    dimensions: PositiveInt = 8

    @property
    def width(self) -> int:
        return self.dimensions

    def encode(self, graph: csr_array) -> NDArray[np.float64]:
        return laplacian(graph, self.dimensions)


def laplacian(graph: csr_array, dimensions: int) -> NDArray[np.float64]:
    r"""Return eigenvectors ``[nodes, dimensions]`` of unit length, by rising eigenvalue.

    .. math::
        L = D^{-1/2} (D - A) D^{-1/2}, \qquad L u_k = \lambda_k u_k, \quad k = 2, 3, \dots

    Each is turned so that its largest entry is positive. Missing columns, as of a graph with
    fewer nodes, are zero. A graph of several pieces is taken apart first: each piece has one
    eigenvalue of zero, and the first columns tell the pieces apart, in the order of their nodes.
    """
    vectors = np.zeros((graph.shape[0], dimensions))
    found: list[tuple[float, int, NDArray[np.float64]]] = []
    pieces, piece_of = connected_components(graph, directed=False)
    for piece in range(pieces):
        nodes = np.flatnonzero(piece_of == piece)
        count = min(dimensions + 1, len(nodes))
        values, columns = smallest(laplacian_matrix(graph[nodes][:, nodes]), count)
        # Rounding must not decide which of several zeros comes first.
        values[0] = 0.0
        for value, column in zip(values.tolist(), columns.T, strict=True):
            whole = np.zeros(graph.shape[0])
            whole[nodes] = column
            found.append((value, piece, whole))
    found.sort(key=lambda pair: pair[:2])
    for place, (_, _, whole) in enumerate(found[1 : dimensions + 1]):
        vectors[:, place] = whole
    return vectors


def laplacian_matrix(graph: csr_array) -> csr_array:
    """Return the normalised Laplacian; rows of nodes without neighbours are zero."""
    occupied = (degrees(graph) > 0).astype(np.float64)
    return (diags_array(occupied) - normalised(graph)).tocsr()
