"""Nodes in a new order inside each graph: the order of a file may give the class away."""

import numpy as np
from numpy.typing import NDArray

from lfds.seeds import seed_for


def shuffled_within_graphs(
    ptr: NDArray[np.int64], seed: int, name: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw a new order of the nodes of each graph.

    Args:
        ptr: Nodes of graph ``g`` are ``ptr[g]:ptr[g + 1]``.
        seed: The root seed.
        name: What the set is called; with the root it names the random stream.

    Returns:
        For each new place the node that comes there, and for each node its new place.
    """
    num_nodes = int(ptr[-1])
    draws = np.random.default_rng(seed_for(seed, name, "node order"))
    chance = draws.integers(0, 2**32, size=num_nodes, dtype=np.uint32).astype(np.int64)
    graph = np.repeat(np.arange(len(ptr) - 1, dtype=np.int64), np.diff(ptr))
    old_at = np.argsort((graph << 32) | chance, kind="stable")
    new_of = np.empty_like(old_at)
    new_of[old_at] = np.arange(num_nodes)
    return old_at, new_of
