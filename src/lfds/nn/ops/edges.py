"""The edges of a batch, as rows of a sparse matrix and as its columns."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_array
from torch import Tensor

from lfds.nn.accel.dispatch import is_traced, values_may_be_read
from lfds.nn.input_checks import check_ptr_values


class Rows(NamedTuple):
    """A sparse matrix in CSR form.

    Attributes:
        ptr: Where each row begins, then the number of entries; int32.
        column: Column of every entry; int32.
        weight: Value of every entry.
    """

    ptr: Int[Tensor, "boundaries"]
    column: Int[Tensor, "edges"]
    weight: Float[Tensor, "edges"]

    def between(self, start: int, stop: int) -> "Rows":
        """Return the rows from ``start`` to below ``stop``; columns stay as they are."""
        first, last = int(self.ptr[start]), int(self.ptr[stop])
        ptr = self.ptr[start : stop + 1] - first
        return Rows(ptr, self.column[first:last], self.weight[first:last])


class Incidence(NamedTuple):
    """Nodes and edges as sparse matrices, for messages that differ from edge to edge.

    Attributes:
        sources: For every edge the node that it comes from, [edges, nodes].
        leaving: The edges that come from every node, [nodes, edges]: the transposed matrix.
        arriving: The edges that go to every node, [nodes, edges], with the weights of the edges.
        targets: For every edge the node that it goes to, [edges, nodes]: the transposed matrix.
    """

    sources: Rows
    leaving: Rows
    arriving: Rows
    targets: Rows


class Edges(NamedTuple):
    r"""The adjacency :math:`\mathbf{A}` of a batch; :math:`a_{ij}` weighs the edge from j to i.

    Edges may be directed and weighted; undirected ones are there in both directions.
    The transposed matrix is what gradients flow through; it is made once for a batch.

    Attributes:
        rows: For every node, those from which it receives.
        columns: For every node, those to which it sends: the rows of the transposed matrix.
        features: What is known of every edge, in the order of ``rows``; None where nothing is.
        incidence: Which edges leave and reach every node; None without features.
    """

    rows: Rows
    columns: Rows
    features: Float[Tensor, "edges edge_channels"] | None = None
    incidence: Incidence | None = None

    @staticmethod
    def from_rows(
        ptr: Int[Tensor, "boundaries"],
        source: Int[Tensor, "edges"],
        weight: Tensor | None = None,
        features: Tensor | None = None,
    ) -> "Edges":
        """Take the rows of a :class:`lfds.data.Batch`: ``edge_ptr``, ``edge_dst`` and ``edge_x``.

        All but the features are copied: later changes of the arguments do not matter.

        Args:
            ptr: Where the edges of each receiving node begin.
            source: The node each edge comes from.
            weight: A number for each edge; 1 by default. No gradient flows to it.
            features: A row for each edge; none by default, or if rows are empty.
        """
        num_nodes = ptr.shape[0] - 1
        weight = torch.ones(source.shape[0], device=ptr.device) if weight is None else weight
        check_edges(ptr, source, weight, num_nodes)
        precision = torch.float64 if weight.dtype == torch.float64 else torch.float32
        rows = Rows(_copy(ptr, torch.int32), _copy(source, torch.int32), _copy(weight, precision))
        features = checked_features(features, source.shape[0])
        if features is None:
            return Edges(rows, transposed(rows))
        places = torch.arange(source.shape[0], device=ptr.device)
        # Transposed with the place of each edge as its value: where it is found among the columns.
        columns = transposed(Rows(rows.ptr, rows.column, places))
        order = columns.weight
        columns = columns._replace(weight=rows.weight[order])
        return Edges(rows, columns, features, incidence(rows, columns.ptr, order.int()))

    @staticmethod
    def forward_only(
        ptr: Int[Tensor, "boundaries"],
        source: Int[Tensor, "edges"],
        features: Tensor | None = None,
    ) -> "Edges":
        """The same without the transposed matrix, which only a gradient needs: for inference."""
        rows = Rows(ptr.int(), source.int(), torch.ones(source.shape[0], device=ptr.device))
        features = checked_features(features, source.shape[0])
        if features is None:
            return Edges(rows, rows)
        return Edges(rows, rows, features, incidence(rows, rows.ptr, rows.column))

    @staticmethod
    def from_index(
        edge_index: Int[Tensor, "2 edges"],
        num_nodes: int,
        weight: Tensor | None = None,
        features: Tensor | None = None,
    ) -> "Edges":
        """Take the edges as PyG writes them: sources above targets, in any order."""
        target, order = torch.sort(edge_index[1], stable=True)
        ptr = torch.searchsorted(target, torch.arange(num_nodes + 1, device=target.device))
        features = checked_features(features, order.shape[0])
        return Edges.from_rows(
            ptr,
            edge_index[0][order],
            None if weight is None else weight[order],
            None if features is None else features[order],
        )

    @property
    def num_nodes(self) -> int:
        """Number of nodes, those without edges included."""
        return self.rows.ptr.shape[0] - 1

    @property
    def target(self) -> Int[Tensor, "edges"]:
        """The node each edge of ``rows`` goes to."""
        return torch.repeat_interleave(self.rows.ptr.diff(), output_size=self.rows.column.shape[0])

    @property
    def pairs(self) -> Int[Tensor, "2 edges"]:
        """Edges as in PyG: sources above targets, in the order of ``rows``."""
        return torch.stack([self.rows.column.long(), self.target])

    @property
    def weight(self) -> Float[Tensor, "edges"]:
        """The weight of each edge of ``rows``."""
        return self.rows.weight

    def add_neighbours(
        self, own: Float[Tensor, "nodes channels"], sent: Float[Tensor, "nodes channels"]
    ) -> Float[Tensor, "nodes channels"]:
        """Add to every node what its neighbours send; see :func:`lfds.nn.ops.spmm`."""
        from lfds.nn.ops.spmm import sum_of_neighbours

        return sum_of_neighbours(sent, self, own)

    def take_sources(
        self, sent: Float[Tensor, "nodes channels"]
    ) -> Float[Tensor, "edges channels"]:
        """Give every edge what the node sends that it comes from."""
        from lfds.nn.ops.spmm import rows_of_sources

        return rows_of_sources(sent, self)

    def add_messages(
        self, own: Float[Tensor, "nodes channels"], messages: Float[Tensor, "edges channels"]
    ) -> Float[Tensor, "nodes channels"]:
        """Add to every node the messages of the edges that go to it, by their weights."""
        from lfds.nn.ops.spmm import sum_of_messages

        return own + sum_of_messages(messages, self)

    def subgraph(self, mask: Bool[Tensor, "nodes"]) -> "Edges":
        """Keep the nodes of ``mask``, renumbered, and the edges between them."""
        number = mask.cumsum(0) - 1
        source, target = self.rows.column.long(), self.target
        both = mask[source] & mask[target]
        stays, rows = both.nonzero()[:, 0], mask.nonzero()[:, 0]
        # How many edges stay before each one, and so before each row.
        before = torch.cat([number.new_zeros(1), both.cumsum(0)])
        ptr = torch.cat([before[self.rows.ptr.long()][rows], before[-1:]])
        features = None if self.features is None else self.features[stays]
        return Edges.from_rows(ptr, number[source[stays]], self.rows.weight[stays], features)


def incidence(rows: Rows, leaving: Tensor, order: Tensor) -> Incidence:
    """Return which edges leave and reach every node.

    Args:
        rows: For every node, those from which it receives.
        leaving: Where the edges that come from each node begin.
        order: These edges, by their places in ``rows``.
    """
    count = rows.column.shape[0]
    bounds = torch.arange(count + 1, dtype=torch.int32, device=rows.ptr.device)
    target = torch.repeat_interleave(rows.ptr.diff(), output_size=count).int()
    ones = torch.ones_like(rows.weight)
    return Incidence(
        sources=Rows(bounds, rows.column, ones),
        leaving=Rows(leaving, order, ones),
        arriving=Rows(rows.ptr, bounds[:-1], rows.weight),
        targets=Rows(bounds, target, rows.weight),
    )


def _copy(values: Tensor, dtype: torch.dtype) -> Tensor:
    return values.to(dtype, copy=True)


def transposed(rows: Rows) -> Rows:
    """Exchange rows and columns of a square matrix."""
    num_nodes = rows.ptr.shape[0] - 1
    if rows.ptr.device.type != "cpu" or is_traced():
        return transposed_by_sorting(rows)
    # Several times faster than sorting, but cannot be traced.
    entries = rows.weight.numpy(), rows.column.numpy(), rows.ptr.numpy()
    flipped = csr_array(entries, shape=(num_nodes, num_nodes)).tocsc()
    parts = (flipped.indptr, flipped.indices, flipped.data)
    ptr, column, weight = (torch.from_numpy(part) for part in parts)
    return Rows(ptr.int(), column.int(), weight)


def transposed_by_sorting(rows: Rows) -> Rows:
    """The same on any device."""
    source, order = torch.sort(rows.column, stable=True)
    target = torch.repeat_interleave(rows.ptr.diff(), output_size=source.shape[0]).int()
    starts = torch.arange(rows.ptr.shape[0], device=source.device)
    return Rows(torch.searchsorted(source, starts).int(), target[order], rows.weight[order])


def checked_features(features: Tensor | None, num_edges: int) -> Tensor | None:
    """Return the features of edges; None if there are none."""
    if features is None:
        return None
    if features.dim() != 2 or features.shape[0] != num_edges:
        raise ValueError(
            f"features must hold a row for each of the {num_edges} edges, "
            f"got shape {list(features.shape)}"
        )
    return features if features.shape[1] else None


def check_edges(ptr: Tensor, source: Tensor, weight: Tensor, num_nodes: int) -> None:
    """The rows are consistent, and name existing nodes."""
    if weight.shape != source.shape:
        raise ValueError(
            f"weight must hold a number for each of the {source.shape[0]} edges, "
            f"got shape {list(weight.shape)}"
        )
    if not weight.is_floating_point() or weight.requires_grad:
        raise ValueError(
            f"weight must be floating-point numbers that need no gradient, got {weight.dtype}"
            f"{' with requires_grad' if weight.requires_grad else ''}; use weight.detach().float()"
        )
    if not values_may_be_read(ptr):
        return
    check_ptr_values(ptr, source.shape[0])
    if source.shape[0] == 0:
        return
    smallest, largest = (int(bound) for bound in source.aminmax())
    if smallest < 0 or largest >= num_nodes:
        raise ValueError(
            f"edges must come from nodes 0 to {num_nodes - 1}, got "
            f"{smallest if smallest < 0 else largest}; edges and nodes are not of the same batch"
        )
