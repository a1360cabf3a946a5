r"""The sum over neighbours, an operator with its own backward.

.. math::
    \mathbf{Z} = \mathbf{B} + \mathbf{A} \mathbf{X}, \qquad
    \bar{\mathbf{X}} = \mathbf{A}^\top \bar{\mathbf{Z}}, \qquad \bar{\mathbf{B}} = \bar{\mathbf{Z}}

The adjacency and its transpose are sparse products of the same form, so that the backward pass is
the operator itself with the two exchanged, and can be differentiated again. Where messages differ
from edge to edge, so do the two matrices between nodes and edges.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from lfds.nn.accel.dispatch import is_traced, only_basic_operations, working_dtype
from lfds.nn.ops.edges import Edges, Rows


def sum_of_neighbours(
    x: Float[Tensor, "nodes channels"],
    edges: Edges,
    own: Float[Tensor, "nodes channels"] | None = None,
) -> Float[Tensor, "nodes channels"]:
    r"""Sum over the neighbours of every node, :math:`b_i + \sum_j a_{ij} x_j`.

    Args:
        x: What every node sends.
        edges: The edges of the batch.
        own: What is added for every node itself; nothing by default.
    """
    nodes = edges.rows.ptr.shape[0] - 1  # torch 2.10 compiles no properties of named tuples
    if nodes != x.shape[0]:
        raise ValueError(
            f"edges are between {nodes} nodes, but x has {x.shape[0]} rows; "
            "x and edges are not of the same batch"
        )
    if only_basic_operations():
        sent = x[edges.rows.column.long()] * edges.rows.weight.to(x.dtype)[:, None]
        start = torch.zeros_like(x) if own is None else own
        return start.index_add(0, edges.target, sent)
    total = _product(x, edges.rows, edges.columns)
    return total if own is None else total + own


def rows_of_sources(
    x: Float[Tensor, "nodes channels"], edges: Edges
) -> Float[Tensor, "edges channels"]:
    r"""Return for every edge the row of the node that it comes from, :math:`x_j`.

    Args:
        x: What every node sends.
        edges: The edges of the batch, which have features.
    """
    assert edges.incidence is not None
    return _product(x, edges.incidence.sources, edges.incidence.leaving)


def sum_of_messages(
    messages: Float[Tensor, "edges channels"], edges: Edges
) -> Float[Tensor, "nodes channels"]:
    r"""Sum over the edges that go to every node, :math:`\sum_j a_{ij} m_{ij}`.

    Args:
        messages: A row for every edge.
        edges: The edges of the batch, which have features.
    """
    assert edges.incidence is not None
    return _product(messages, edges.incidence.arriving, edges.incidence.targets)


def _product(x: Tensor, rows: Rows, transposed: Rows) -> Tensor:
    """The sparse product with its gradient; ``transposed`` has what the gradient flows through."""
    if only_basic_operations():
        return multiply_by_index(rows, x)
    matrices = (*rows, *transposed)
    if is_traced():
        total: Tensor = torch.ops.lfds.sum_of_neighbours(x, *matrices)
    else:
        total = _SumOfNeighbours.apply(x, *matrices)  # type: ignore[no-untyped-call]
    return total


def multiply(rows: Rows, x: Tensor) -> Tensor:
    """The sparse product itself, without autograd."""
    if x.numel() == 0 or rows.column.shape[0] == 0:
        return x.new_zeros(rows.ptr.shape[0] - 1, x.shape[1])
    dtype = working_dtype(x)
    if x.device.type not in ("cpu", "cuda"):
        return multiply_by_index(rows, x.detach().to(dtype)).to(x.dtype)
    # The sparse product under another name, twice as fast as torch.sparse on the CPU.  On CUDA a
    # thread adds up one channel of one node, neighbour after neighbour: the same bits every time,
    # and no copy of a row for every edge.
    return F.embedding_bag(
        rows.column,
        x.detach().to(dtype).contiguous(),
        rows.ptr,
        mode="sum",
        per_sample_weights=rows.weight.to(dtype),
        include_last_offset=True,
    ).to(x.dtype)


def multiply_by_index(rows: Rows, x: Tensor) -> Tensor:
    """The same on any device, with a row for every edge in between."""
    counts, edges = rows.ptr.diff(), rows.column.shape[0]
    target = torch.repeat_interleave(counts, output_size=edges)
    sent = x[rows.column.long()] * rows.weight.to(x.dtype)[:, None]
    start = x.new_zeros(rows.ptr.shape[0] - 1, x.shape[1])
    return start.index_add(0, target, sent)


class _SumOfNeighbours(torch.autograd.Function):
    """The operator in eager mode: calling what is registered below costs more than a small sum."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *matrices: Tensor) -> Tensor:
        ctx.save_for_backward(*matrices)
        return multiply(Rows(*matrices[:3]), x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        matrices = ctx.saved_tensors
        turned = (*matrices[3:], *matrices[:3])
        grad_x = _SumOfNeighbours.apply(grads[0], *turned)  # type: ignore[no-untyped-call]
        return grad_x, *6 * [None]


torch.library.define(
    "lfds::sum_of_neighbours",
    "(Tensor x, Tensor ptr, Tensor column, Tensor weight,"
    " Tensor ptr_t, Tensor column_t, Tensor weight_t) -> Tensor",
)


@torch.library.impl("lfds::sum_of_neighbours", "default")
def _sum_of_neighbours(
    x: Tensor, ptr: Tensor, column: Tensor, weight: Tensor, *_: Tensor
) -> Tensor:
    return multiply(Rows(ptr, column, weight), x)


def _shape(x: Tensor, ptr: Tensor, *_: Tensor) -> Tensor:
    return x.new_empty(ptr.shape[0] - 1, x.shape[1])


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[1:])


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    matrices = ctx.saved_tensors
    grad_x = torch.ops.lfds.sum_of_neighbours(grad, *matrices[3:], *matrices[:3])
    return grad_x, *6 * [None]


torch.library.register_fake("lfds::sum_of_neighbours", _shape)
torch.library.register_autograd("lfds::sum_of_neighbours", _backward, setup_context=_keep)
