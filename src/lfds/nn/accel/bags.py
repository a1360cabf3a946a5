r"""What arrives at every node, its own included, as one sum over rows; and its gradient likewise.

A spatial layer makes two rows for each node, what it keeps :math:`\mathbf{o}_i` and what it sends
:math:`\mathbf{s}_i`. Laid out as rows :math:`2i` and :math:`2i + 1` of one matrix, what arrives and
what flows back are sums over rows, each done in one pass:

.. math::
    \mathbf{z}_i = \mathbf{o}_i + \sum_j a_{ij} \mathbf{s}_j, \qquad
    \bar{\mathbf{o}}_i = \bar{\mathbf{z}}_i, \qquad
    \bar{\mathbf{s}}_j = \sum_i a_{ij} \bar{\mathbf{z}}_i
"""

from functools import cached_property
from typing import final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from lfds.nn.ops.edges import Edges, Rows


@final
class Bags:
    """Which rows are summed, and with which weights; on the CPU.

    Args:
        edges: The edges of a batch.
    """

    def __init__(self, edges: Edges) -> None:
        self.edges = edges

    @cached_property
    def arriving(self) -> Rows:
        """For every node, the rows of what is kept and sent that it is the sum of."""
        rows = self.edges.rows
        own = 2 * np.arange(self.edges.num_nodes, dtype=np.int32)
        return _with_own(rows, own=own, others=2 * rows.column + 1)

    @cached_property
    def returning(self) -> Rows:
        """For every row of what is kept and sent, the nodes whose gradients it sums."""
        columns = self.edges.columns
        own = np.arange(self.edges.num_nodes, dtype=np.int32)
        ptr, *entries = _with_own(columns, own=own, others=columns.column)
        # A node's own is the first of its entries, and a sum of its own on the way back.
        starts = torch.stack([ptr[:-1], ptr[:-1] + 1], dim=1).flatten()
        return Rows(torch.cat([starts, ptr[-1:]]), *entries)


def _with_own(rows: Rows, own: np.ndarray, others: Tensor) -> Rows:
    """Put an entry of weight 1 before those of every row."""
    ptr = rows.ptr.numpy()
    numbers = np.arange(len(ptr), dtype=np.int32)
    # Row i begins i entries later, and its others one entry after that.
    starts = ptr + numbers
    places = np.arange(1, ptr[-1] + 1) + np.repeat(numbers[:-1], np.diff(ptr))
    column = np.empty(starts[-1], dtype=np.int32)
    column[starts[:-1]], column[places] = own, others.numpy()
    weight = np.ones(len(column), dtype=rows.weight.numpy().dtype)
    weight[places] = rows.weight.numpy()
    return Rows(*(torch.from_numpy(part) for part in (starts, column, weight)))


def arrived(
    both: Float[Tensor, "nodes both_channels"], bags: Bags
) -> Float[Tensor, "nodes channels"]:
    """Sum what every node keeps, the left half of its row, and what its neighbours send."""
    return _sums(bags.arriving, both.view(2 * both.shape[0], -1))


def returned(
    grad: Float[Tensor, "nodes channels"], bags: Bags
) -> Float[Tensor, "nodes both_channels"]:
    """The gradient of :func:`arrived`."""
    return _sums(bags.returning, grad).view(grad.shape[0], -1)


def _sums(rows: Rows, x: Tensor) -> Tensor:
    # The sparse product by a name under which torch is twice as fast as by its own.
    return F.embedding_bag(
        rows.column,
        x,
        rows.ptr,
        mode="sum",
        per_sample_weights=rows.weight.to(x.dtype),
        include_last_offset=True,
    )
