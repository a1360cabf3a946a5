"""A ragged batch: some graphs of a set laid end to end, nodes renumbered, nothing padded."""

from dataclasses import dataclass, fields, replace
from typing import Self

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
        edge_attributes: One row per edge, in the order of ``edge_dst``; width 0 where none.
        edge_labels: Likewise.
    """

    x: Tensor
    ptr: Tensor
    edge_ptr: Tensor
    edge_dst: Tensor
    y: Tensor
    edge_attributes: Tensor
    edge_labels: Tensor

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

    def to(self, device: torch.device | str) -> Self:
        """Return the batch on ``device``; itself where it is there already."""
        moved = {entry.name: getattr(self, entry.name).to(device) for entry in fields(self)}
        unmoved = all(tensor is getattr(self, name) for name, tensor in moved.items())
        return self if unmoved else replace(self, **moved)


def assemble(
    picked: Picked,
    x: Tensor,
    edge_dst: Tensor,
    y: Tensor,
    edge_attributes: Tensor,
    edge_labels: Tensor,
) -> Batch:
    """Gather a batch from the flat tensors of a set, whose node numbers are local to a graph."""
    edges = picked.ptr[:-1].repeat(picked.edge_counts)
    edges += take(edge_dst, picked.edges).numpy()
    return Batch(
        x=take(x, picked.nodes),
        ptr=torch.from_numpy(picked.ptr),
        edge_ptr=torch.from_numpy(picked.edge_ptr),
        edge_dst=torch.from_numpy(edges),
        y=take(y, picked.graphs),
        edge_attributes=_taken(edge_attributes, picked, len(edges)),
        edge_labels=_taken(edge_labels, picked, len(edges)),
    )


def _taken(table: Tensor, picked: Picked, length: int) -> Tensor:
    # Most sets know nothing of edges: they do not pay for gathering it.
    return take(table, picked.edges) if table.shape[1] else table.new_empty(length, 0)
