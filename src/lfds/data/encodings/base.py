"""The interface of structural encodings, and functions of graphs that they share."""

import hashlib
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict
from scipy.sparse import csr_array


class StructuralEncoding(BaseModel, ABC):
    """Settings of a structural encoding, and its computation.

    An encoding depends on one graph only: not on the other graphs of the set, labels or a global
    random state. So a graph has the same encoding in every set.

    Attributes:
        kind: Name of the encoding in settings and on the command line.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    # Increased when the same settings give other numbers, which invalidates cached encodings.
    version: ClassVar[int] = 1
    kind: str

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of columns."""

    @abstractmethod
    def encode(self, graph: csr_array) -> NDArray[np.float64]:
        """Return the encoding ``[nodes, width]`` of a graph given by its symmetric adjacency."""


def degrees(graph: csr_array) -> NDArray[np.float64]:
    """Return the number of neighbors of each node."""
    counts: NDArray[np.float64] = np.diff(graph.indptr).astype(np.float64)
    return counts


def normalized(graph: csr_array) -> csr_array:
    r"""Return :math:`D^{-1/2} A D^{-1/2}`; rows of isolated nodes are zero."""
    scale = 1 / np.sqrt(np.maximum(degrees(graph), 1.0))
    weights = np.repeat(scale, np.diff(graph.indptr)) * scale[graph.indices]
    return csr_array((weights, graph.indices, graph.indptr), shape=graph.shape)


def fingerprint(graph: csr_array) -> str:
    """Return a hash of the graph: 64 hexadecimal digits."""
    digest = hashlib.sha256(graph.indptr.astype("<i8").tobytes())
    digest.update(graph.indices.astype("<i8").tobytes())
    return digest.hexdigest()
