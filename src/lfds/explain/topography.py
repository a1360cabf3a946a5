r"""Whether neighbouring slots hold similar nodes: the topographic error of a structure.

.. math::
    e = \frac{1}{n} \left| \{ i : \text{the slots of the two largest } p_{ik}
        \text{ are not neighbours} \} \right|

as for self-organizing maps. If the arrangement of the slots has nothing to do with the nodes, it is
one minus the part of all pairs of slots that are neighbours.
"""

import numpy as np
from numpy.typing import NDArray


def scattered_nodes(
    shares: NDArray[np.floating], neighbours: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return whether the two slots with the largest shares of a node are not neighbours.

    Args:
        shares: ``[nodes, slots]``.
        neighbours: ``[slots, slots]``, whether two slots are neighbours.

    >>> loop = np.roll(np.eye(4), 1, axis=0) + np.roll(np.eye(4), -1, axis=0) > 0
    >>> scattered_nodes(np.array([[0.5, 0.1, 0.1, 0.3], [0.5, 0.1, 0.3, 0.1]]), loop)
    array([False,  True])
    """
    largest = np.argpartition(shares, -2, axis=1)[:, -2:]
    return ~neighbours[largest[:, 0], largest[:, 1]]


def expected_error(neighbours: NDArray[np.bool_]) -> float:
    """Return the topographic error of slots that are arranged at random.

    >>> loop = np.roll(np.eye(16), 1, axis=0) + np.roll(np.eye(16), -1, axis=0) > 0
    >>> round(expected_error(loop), 3)
    0.867
    """
    pairs = ~np.eye(len(neighbours), dtype=bool)
    return float(1 - neighbours[pairs].mean())
