"""Random-walk structural encoding: how likely a walk is back after 1, 2, 3, ... steps."""

from typing import Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt
from scipy.sparse import csr_array

from lfds.data.encodings.adjacency import normalised
from lfds.data.encodings.base import StructuralEncoding

# Columns worked on at a time: as many as stay in the cache beside their image.
_BLOCK_NUMBERS = 2**18
# Below this size the sparse product costs more in overhead than the dense one in zeros.
_DENSE_BELOW = 100


@final
class RWSE(StructuralEncoding):
    """Settings of the random-walk structural encoding.

    Attributes:
        steps: Lengths of the walks, 1 to this many (a single step never comes back).
    """

    kind: Literal["rwse"] = "rwse"
    steps: PositiveInt = 16

    @property
    def width(self) -> int:
        return self.steps

    def encode(self, graph: csr_array) -> NDArray[np.float64]:
        return rwse(graph, self.steps)


def rwse(graph: csr_array, steps: int) -> NDArray[np.float64]:
    r"""Return the probabilities ``[nodes, steps]`` that a walk is back where it started.

    .. math::
        r_{ik} = (P^k)_{ii} = (S^k)_{ii} = \langle S^a e_i, \, S^{k-a} e_i \rangle
        \quad\text{with}\quad P = D^{-1} A, \; S = D^{-1/2} A D^{-1/2}

    :math:`P` and :math:`S` are similar by a diagonal matrix, so their powers share a diagonal, and
    :math:`S` is symmetric: half of the steps suffice, on blocks of columns, without any matrix
    power. A node without neighbours stays where it is: its walk is never back.
    """
    count = graph.shape[0]
    step = normalised(graph)
    if count < _DENSE_BELOW:
        step = step.toarray()
    back = np.zeros((count, steps))
    width = max(1, _BLOCK_NUMBERS // max(count, 1))
    for start in range(0, count, width):
        nodes = np.arange(start, min(start + width, count))
        here = np.zeros((count, len(nodes)))
        here[nodes, nodes - start] = 1.0
        for length in range(1, steps + 1, 2):
            there = step @ here
            back[nodes, length - 1] = np.einsum("ij,ij->j", here, there)
            if length < steps:
                back[nodes, length] = np.einsum("ij,ij->j", there, there)
            here = there
    return back
