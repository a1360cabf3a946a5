"""A ragged batch: some graphs of a set laid end to end, nodes renumbered, nothing padded."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lfds.data.selection import Picked, take


@dataclass(frozen=True)
class Batch:
    """Some graphs as one disconnected graph.

    Attributes:
        x: Node features, ``[nodes, features]``.
        ptr: Nodes of the batch's graph ``b`` are ``ptr[b]:ptr[b + 1]``.
        edge_ptr: Row pointers of the adjacency in CSR form, one row per node of the batch.
        edge_dst: For each row ``i`` the nodes from which ``i`` receives, numbered in the batch.
        y: Targets, one row per graph.
    """

    x: Tensor
    ptr: Tensor
    edge_ptr: Tensor
    edge_dst: Tensor
    y: Tensor

    def __len__(self) -> int:
        return len(self.ptr) - 1

    @property
    def index(self) -> Tensor:
        """The graph of each node, as PyG's layers want it."""
        return torch.repeat_interleave(self.ptr.diff())

    @property
    def edge_index(self) -> Tensor:
        """The edges as PyG writes them: sources above targets."""
        return torch.stack([self.edge_dst, torch.repeat_interleave(self.edge_ptr.diff())])


def assemble(picked: Picked, x: Tensor, edge_dst: Tensor, y: Tensor) -> Batch:
    """Gather a batch from the flat tensors of a set, whose node numbers are local to a graph."""
    edges = picked.ptr[:-1].repeat(picked.edge_counts)
    edges += take(edge_dst, picked.edges).numpy()
    return Batch(
        x=take(x, picked.nodes),
        ptr=torch.from_numpy(picked.ptr),
        edge_ptr=torch.from_numpy(picked.edge_ptr),
        edge_dst=torch.from_numpy(edges),
        y=take(y, picked.graphs),
    )
