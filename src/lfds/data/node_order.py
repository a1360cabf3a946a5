"""Nodes in a new order inside each graph: the order of a file may give the class away."""

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from lfds.data.graphset import GraphSet
from lfds.data.options import whole_seed
from lfds.data.readers.edges import edge_rows
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


def with_shuffled_nodes(graphs: GraphSet, seed: int) -> GraphSet:
    """Return the same graphs with their nodes in a new order, drawn by ``seed`` and the name."""
    seed = whole_seed(seed)
    ptr = graphs.ptr.numpy()
    old_at, new_of = shuffled_within_graphs(ptr, seed, graphs.name)
    receiver = np.repeat(np.arange(graphs.num_nodes), graphs.degrees.numpy())
    first = np.repeat(ptr[:-1], graphs.sizes.numpy())
    sender = graphs.edge_dst.numpy() + first[receiver]
    rows = edge_rows(ptr, new_of[sender], new_of[receiver], keep_positions=True)
    order = torch.from_numpy(old_at)
    attributes = graphs.attributes[order]
    return replace(
        graphs,
        x=attributes if graphs.x is graphs.attributes else graphs.x[order],
        attributes=attributes,
        labels=graphs.labels[order],
        coordinates=graphs.coordinates[order],
        edge_ptr=torch.from_numpy(rows.ptr),
        edge_dst=torch.from_numpy(rows.other),
        edge_attributes=rows.of_kept(graphs.edge_attributes.numpy()),
        edge_labels=rows.of_kept(graphs.edge_labels.numpy()),
        provenance={**graphs.provenance, "node_order_seed": seed},
    )
