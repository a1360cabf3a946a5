"""Random order of the nodes inside each graph: the order in a file may reveal the class."""

from dataclasses import replace

import numpy as np
import torch

from lfds.data.edges import Ints, rows_from_edge_index
from lfds.data.errors import check_seed
from lfds.data.graphset import GraphSet
from lfds.seeds import seed_for

_DRAWN_AT_A_TIME = 1 << 20


class NodeOrder:
    """Draws the order of nodes; read in pieces, a set has the order that it has as a whole.

    Args:
        seed: Random seed.
        name: Name of the dataset, which is part of the name of the random stream.
        skip: Number of nodes before those that are read.
    """

    def __init__(self, seed: int, name: str, skip: int = 0) -> None:
        self.seed = check_seed(seed)
        self._draws = np.random.default_rng(seed_for(self.seed, name, "node order"))
        while skip:
            skip -= len(self._keys(min(skip, _DRAWN_AT_A_TIME)))

    def permutation(self, ptr: Ints) -> tuple[Ints, Ints]:
        """Draw a random order of the nodes inside each of the next graphs.

        Args:
            ptr: Nodes of graph ``g`` are ``ptr[g]:ptr[g + 1]``.

        Returns:
            The old position of each new node, and the new position of each old node.
        """
        num_nodes = int(ptr[-1])
        keys = self._keys(num_nodes)
        graph = np.repeat(np.arange(len(ptr) - 1, dtype=np.int64), np.diff(ptr))
        old_of_new = np.argsort((graph << 32) | keys, kind="stable")
        new_of_old = np.empty_like(old_of_new)
        new_of_old[old_of_new] = np.arange(num_nodes)
        return old_of_new, new_of_old

    def shuffle(self, graphs: GraphSet) -> GraphSet:
        """Return the next graphs with their nodes in random order."""
        ptr = graphs.ptr.numpy()
        old_of_new, new_of_old = self.permutation(ptr)
        rows = rows_from_edge_index(ptr, new_of_old[graphs.edge_index.numpy()], keep_positions=True)
        order = torch.from_numpy(old_of_new)
        attributes = graphs.attributes[order]
        return replace(
            graphs,
            x=attributes if graphs.x is graphs.attributes else graphs.x[order],
            attributes=attributes,
            labels=graphs.labels[order],
            coordinates=graphs.coordinates[order],
            edge_ptr=torch.from_numpy(rows.ptr),
            edge_dst=torch.from_numpy(rows.senders),
            edge_attributes=torch.from_numpy(rows.take(graphs.edge_attributes.numpy())),
            edge_labels=torch.from_numpy(rows.take(graphs.edge_labels.numpy())),
            edge_x=torch.from_numpy(rows.take(graphs.edge_x.numpy())),
            provenance={**graphs.provenance, "node_order_seed": self.seed},
        )

    def _keys(self, count: int) -> Ints:
        return self._draws.integers(0, 2**32, size=count, dtype=np.uint32).astype(np.int64)


def node_permutation(ptr: Ints, seed: int, name: str) -> tuple[Ints, Ints]:
    """Draw a random order of the nodes inside each graph; see :meth:`NodeOrder.permutation`."""
    return NodeOrder(seed, name).permutation(ptr)


def shuffle_nodes(graphs: GraphSet, seed: int) -> GraphSet:
    """Return the same graphs with their nodes in random order, drawn by ``seed`` and name."""
    return NodeOrder(seed, graphs.name).shuffle(graphs)
