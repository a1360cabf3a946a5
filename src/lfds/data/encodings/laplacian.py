"""Laplacian eigenvectors: the slowest vibrations of a graph, as coordinates."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, PositiveInt
from scipy.sparse import csr_array, diags_array

from lfds.data.encodings.adjacency import degrees, normalised
from lfds.data.encodings.eigenvectors import smallest


class Laplacian(BaseModel):
    """Settings of the Laplacian encoding.

    Attributes:
        dimensions: Eigenvectors taken, after the first, which only knows the degrees.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["laplacian"] = "laplacian"
    dimensions: PositiveInt = 8

    @property
    def width(self) -> int:
        """Columns of the encoding."""
        return self.dimensions


def laplacian(graph: csr_array, settings: Laplacian) -> NDArray[np.float64]:
    r"""Return eigenvectors ``[nodes, dimensions]`` of unit length, by rising eigenvalue.

    .. math::
        L = D^{-1/2} (D - A) D^{-1/2}, \qquad L u_k = \lambda_k u_k, \quad k = 2, 3, \dots

    Each is turned so that its largest entry is positive. Missing columns, as of a graph with
    fewer nodes, are zero. In a graph of several pieces the first ones tell the pieces apart.
    """
    vectors = np.zeros((graph.shape[0], settings.dimensions))
    count = min(settings.dimensions, graph.shape[0] - 1)
    if count > 0:
        found = smallest(laplacian_matrix(graph), count + 1)[1]
        vectors[:, :count] = found[:, 1:]
    return vectors


def laplacian_matrix(graph: csr_array) -> csr_array:
    """Return the normalised Laplacian; rows of nodes without neighbours are zero."""
    occupied = (degrees(graph) > 0).astype(np.float64)
    return (diags_array(occupied) - normalised(graph)).tocsr()
