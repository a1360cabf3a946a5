"""Graphs as a frozen network reads them: where they are, a few at a time."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lfds.nn.ops.edges import Edges, Rows


class Graphs(NamedTuple):
    """Graphs laid end to end, nodes numbered within their graph.

    Attributes:
        x: Node features.
        ptr: Row of ``x`` at which each graph begins, then the number of rows; a run of graphs keeps
            the numbers it had.
        edge_ptr: Where the edges that each node receives begin, then the number of edges; likewise.
        source: The node each edge comes from, numbered within its graph.
    """

    x: Float[Tensor, "nodes features"]
    ptr: Int[Tensor, "boundaries"]
    edge_ptr: Int[Tensor, "rows"]
    source: Int[Tensor, "edges"]

    @property
    def num_graphs(self) -> int:
        """How many graphs there are."""
        return self.ptr.shape[0] - 1

    def assembled(self) -> tuple[Int[Tensor, "boundaries"], Edges]:
        """Where graphs begin, and their edges with all nodes numbered through."""
        ptr, edge_ptr = self.ptr - self.ptr[0], self.edge_ptr - self.edge_ptr[0]
        first = ptr[:-1].repeat_interleave(ptr.diff()).repeat_interleave(edge_ptr.diff())
        ones = torch.ones(len(self.source), dtype=self.x.dtype)
        rows = Rows(edge_ptr.int(), (first + self.source).int(), ones)
        # The transposed matrix would be read by a gradient alone: it is not made.
        return ptr, Edges(rows, rows)

    def run(self, graphs: slice) -> "Graphs":
        """Some of them that follow each other; nothing is copied."""
        first, last = graphs.start, graphs.stop
        start, end = (int(self.ptr[graph] - self.ptr[0]) for graph in (first, last))
        edges = slice(*(int(self.edge_ptr[node] - self.edge_ptr[0]) for node in (start, end)))
        return Graphs(
            self.x[start:end],
            self.ptr[first : last + 1],
            self.edge_ptr[start : end + 1],
            self.source[edges],
        )
