"""A ragged batch: some graphs of a set concatenated, without padding."""

from dataclasses import dataclass, fields, replace
from typing import Self

import torch
from torch import Tensor

from lfds.data.selection import Selection, take


@dataclass(frozen=True)
class Batch:
    """Some graphs as one disconnected graph.

    Attributes:
        x: Node features, ``[nodes, features]``.
        ptr: Nodes of graph ``b`` of the batch are ``ptr[b]:ptr[b + 1]``.
        edge_ptr: Row pointers of the edges in CSR form, one row per node of the batch.
        edge_dst: For each row ``i`` the nodes from which ``i`` receives, numbered in the batch.
        y: Targets, one row per graph.
        edge_attributes: One row per edge, in the order of ``edge_dst``; width 0 where none.
        edge_labels: Likewise, for labels.
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
        """The graph of each node, which PyG calls ``batch``."""
        return torch.repeat_interleave(self.ptr.diff())

    @property
    def edge_index(self) -> Tensor:
        """Edges as in PyG, ``[2, edges]``: senders above receivers."""
        return torch.stack([self.edge_dst, torch.repeat_interleave(self.edge_ptr.diff())])

    def to(self, device: torch.device | str) -> Self:
        """Return the batch on ``device``; itself if it is there already."""
        moved = {entry.name: getattr(self, entry.name).to(device) for entry in fields(self)}
        unmoved = all(tensor is getattr(self, name) for name, tensor in moved.items())
        return self if unmoved else replace(self, **moved)


def assemble(
    rows: Selection,
    x: Tensor,
    edge_dst: Tensor,
    y: Tensor,
    edge_attributes: Tensor,
    edge_labels: Tensor,
) -> Batch:
    """Return a batch of selected rows of the tensors of a set; edges are renumbered."""
    edges = rows.ptr[:-1].repeat(rows.edge_counts)
    edges += take(edge_dst, rows.edges).numpy()
    return Batch(
        x=take(x, rows.nodes),
        ptr=torch.from_numpy(rows.ptr),
        edge_ptr=torch.from_numpy(rows.edge_ptr),
        edge_dst=torch.from_numpy(edges),
        y=take(y, rows.graphs),
        edge_attributes=_edge_rows(edge_attributes, rows, len(edges)),
        edge_labels=_edge_rows(edge_labels, rows, len(edges)),
    )


def _edge_rows(table: Tensor, rows: Selection, length: int) -> Tensor:
    # Most sets have no edge features: skip the gather.
    return take(table, rows.edges) if table.shape[1] else table.new_empty(length, 0)
