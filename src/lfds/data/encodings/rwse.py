"""Random-walk structural encoding: return probabilities after 1, 2, 3, ... steps."""

from typing import Literal, final

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt
from scipy.sparse import csr_array

from lfds.data.encodings.base import StructuralEncoding, normalized

# Numbers of the columns computed at a time: as many as fit into the CPU cache twice.
_BLOCK_NUMBERS = 2**18
# Below this size the dense product is faster than the sparse one.
_DENSE_BELOW = 100


@final
class RWSE(StructuralEncoding):
    """Settings of the random-walk structural encoding.

    Attributes:
        steps: Longest walk; there is one column for each length from 1 (always 0) to this one.
    """

    kind: Literal["rwse"] = "rwse"
    steps: PositiveInt = 16

    @property
    def width(self) -> int:
        return self.steps

    def encode(self, graph: csr_array) -> NDArray[np.float64]:
        return rwse(graph, self.steps)


def rwse(graph: csr_array, steps: int) -> NDArray[np.float64]:
    r"""Return the probabilities ``[nodes, steps]`` that a random walk returns to its start.

    .. math::
        r_{ik} = (P^k)_{ii} = (S^k)_{ii} = \langle S^a e_i, \, S^{k-a} e_i \rangle
        \quad\text{with}\quad P = D^{-1} A, \; S = D^{-1/2} A D^{-1/2}

    :math:`P` and :math:`S` are similar by a diagonal matrix, so their powers have equal diagonals,
    and :math:`S` is symmetric: half of the steps suffice, on blocks of columns, without matrix
    powers. Isolated nodes have zeros.
    """
    count = graph.shape[0]
    step = normalized(graph)
    if count < _DENSE_BELOW:
        step = step.toarray()
    returns = np.zeros((count, steps))
    width = max(1, _BLOCK_NUMBERS // max(count, 1))
    for start in range(0, count, width):
        nodes = np.arange(start, min(start + width, count))
        walk = np.zeros((count, len(nodes)))
        walk[nodes, nodes - start] = 1.0
        for length in range(1, steps + 1, 2):
            after = step @ walk
            returns[nodes, length - 1] = np.einsum("ij,ij->j", walk, after)
            if length < steps:
                returns[nodes, length] = np.einsum("ij,ij->j", after, after)
            walk = after
    return returns
