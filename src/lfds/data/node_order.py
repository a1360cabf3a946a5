"""Random order of the nodes inside each graph: the order in a file may reveal the class."""

from dataclasses import replace

import numpy as np
import torch

from lfds.data.edges import Ints, rows_from_edge_index
from lfds.data.errors import check_seed
from lfds.data.graphset import GraphSet
from lfds.seeds import seed_for


def node_permutation(ptr: Ints, seed: int, name: str) -> tuple[Ints, Ints]:
    """Draw a random order of the nodes inside each graph.

    Args:
        ptr: Nodes of graph ``g`` are ``ptr[g]:ptr[g + 1]``.
        seed: Random seed.
        name: Name of the dataset, which is part of the name of the random stream.

    Returns:
        The old position of each new node, and the new position of each old node.
    """
    num_nodes = int(ptr[-1])
    draws = np.random.default_rng(seed_for(seed, name, "node order"))
    keys = draws.integers(0, 2**32, size=num_nodes, dtype=np.uint32).astype(np.int64)
    graph = np.repeat(np.arange(len(ptr) - 1, dtype=np.int64), np.diff(ptr))
    old_of_new = np.argsort((graph << 32) | keys, kind="stable")
    new_of_old = np.empty_like(old_of_new)
    new_of_old[old_of_new] = np.arange(num_nodes)
    return old_of_new, new_of_old


def shuffle_nodes(graphs: GraphSet, seed: int) -> GraphSet:
    """Return the same graphs with their nodes in random order, drawn by ``seed`` and name."""
    seed = check_seed(seed)
    ptr = graphs.ptr.numpy()
    old_of_new, new_of_old = node_permutation(ptr, seed, graphs.name)
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
        provenance={**graphs.provenance, "node_order_seed": seed},
    )
