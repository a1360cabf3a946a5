"""Eigenvectors of the graph Laplacian."""

from typing import ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components

from lfds.data.encodings.base import StructuralEncoding, degrees, normalized
from lfds.data.encodings.eigenvectors import smallest


@final
class Laplacian(StructuralEncoding):
    """Settings of the Laplacian encoding.

    Attributes:
        dimensions: Number of eigenvectors after the first, which depends on degrees only.
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
    r"""Return eigenvectors ``[nodes, dimensions]`` of unit length, by increasing eigenvalue.

    .. math::
        L = D^{-1/2} (D - A) D^{-1/2}, \qquad L u_k = \lambda_k u_k, \quad k = 2, 3, \dots

    The sign makes the largest entry positive. Missing columns, as of a graph with fewer nodes,
    are zero. Connected components are computed separately: each has one eigenvalue of zero, and
    the first columns indicate the components, in the order of their nodes.
    """
    vectors = np.zeros((graph.shape[0], dimensions))
    found: list[tuple[float, int, NDArray[np.float64]]] = []
    components, component_of = connected_components(graph, directed=False)
    for component in range(components):
        nodes = np.flatnonzero(component_of == component)
        count = min(dimensions + 1, len(nodes))
        values, columns = smallest(laplacian_matrix(graph[nodes][:, nodes]), count)
        # Rounding must not decide the order of several zeros.
        values[0] = 0.0
        for value, column in zip(values.tolist(), columns.T, strict=True):
            vector = np.zeros(graph.shape[0])
            vector[nodes] = column
            found.append((value, component, vector))
    found.sort(key=lambda pair: pair[:2])
    for place, (_, _, vector) in enumerate(found[1 : dimensions + 1]):
        vectors[:, place] = vector
    return vectors


def laplacian_matrix(graph: csr_array) -> csr_array:
    """Return the normalized Laplacian; rows of isolated nodes are zero."""
    connected = (degrees(graph) > 0).astype(np.float64)
    return (diags_array(connected) - normalized(graph)).tocsr()
