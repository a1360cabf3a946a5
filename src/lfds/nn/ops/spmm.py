r"""The sum over neighbours, an operator with its own backward.

.. math::
    \mathbf{Z} = \mathbf{B} + \mathbf{A} \mathbf{X}, \qquad
    \bar{\mathbf{X}} = \mathbf{A}^\top \bar{\mathbf{Z}}, \qquad \bar{\mathbf{B}} = \bar{\mathbf{Z}}

The adjacency and its transpose are sparse products of the same kind, so that the backward pass is
the operator itself with the two exchanged, and can be differentiated again.
"""

import warnings
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from lfds.nn.accel.dispatch import is_traced, only_basic_operations, own_precision, working_dtype
from lfds.nn.ops.edges import Edges, Rows


def sum_of_neighbours(
    x: Float[Tensor, "nodes channels"],
    edges: Edges,
    own: Float[Tensor, "nodes channels"] | None = None,
) -> Float[Tensor, "nodes channels"]:
    r"""Sum what arrives at every node, :math:`b_i + \sum_j a_{ij} x_j`.

    Args:
        x: What every node sends.
        edges: The edges of the batch.
        own: What every node adds of its own; nothing by default.
    """
    if edges.num_nodes != x.shape[0]:
        raise ValueError(
            f"edges are between {edges.num_nodes} nodes, but x has {x.shape[0]} rows; "
            "x and edges are not of the same batch"
        )
    if only_basic_operations():
        return _scattered_sum(x, edges, own)
    if is_traced():
        traced: Tensor = torch.ops.lfds.sum_of_neighbours(x, own, *edges.rows, *edges.columns)
        return traced
    matrices = (*edges.rows, *edges.columns)
    total: Tensor = _SumOfNeighbours.apply(x, own, *matrices)  # type: ignore[no-untyped-call]
    return total


def _scattered_sum(x: Tensor, edges: Edges, own: Tensor | None) -> Tensor:
    sent = x[edges.rows.column.long()] * edges.rows.weight.to(x.dtype)[:, None]
    return (torch.zeros_like(x) if own is None else own).index_add(0, edges.target, sent)


class _SumOfNeighbours(torch.autograd.Function):
    """The operator in eager mode: calling what is registered below costs more than a small sum."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, own: Tensor | None, *matrices: Tensor) -> Tensor:
        _keep(ctx, (x, own, *matrices), x)
        return multiply(Rows(*matrices[:3]), x, own)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (grad,) = grads
        rows, columns = ctx.saved_tensors[:3], ctx.saved_tensors[3:]
        grad_x = None
        if ctx.needs_input_grad[0]:
            transposed = (grad.contiguous(), None, *columns, *rows)
            grad_x = _SumOfNeighbours.apply(*transposed)  # type: ignore[no-untyped-call]
        return grad_x, grad if ctx.has_own else None, None, None, None, None, None, None


def multiply(rows: Rows, x: Tensor, own: Tensor | None = None) -> Tensor:
    """The sparse product itself; it knows no gradient."""
    if x.numel() == 0 or rows.column.shape[0] == 0:
        return x.new_zeros(x.shape) if own is None else own.clone()
    dtype = working_dtype(x)
    if own is None and x.dtype == torch.float32 and x.is_contiguous() and x.device.type == "cpu":
        # The same product under another name, in half the time where it applies.
        return F.embedding_bag(
            rows.column,
            x.detach(),
            rows.ptr,
            mode="sum",
            per_sample_weights=rows.weight.float(),
            include_last_offset=True,
        )
    matrix = torch.sparse_csr_tensor(
        rows.ptr, rows.column, rows.weight.to(dtype), (x.shape[0],) * 2, check_invariants=False
    )
    with own_precision(x):
        if own is None:
            return (matrix @ x.to(dtype)).to(x.dtype)
        return torch.addmm(own.to(dtype), matrix, x.to(dtype)).to(x.dtype)


# torch says once in every process that CSR is in beta; our tests watch over what is used here.
with warnings.catch_warnings(action="ignore", category=UserWarning):
    torch.sparse_csr_tensor([0, 0], [], [], (1, 1), check_invariants=False)

torch.library.define(
    "lfds::sum_of_neighbours",
    "(Tensor x, Tensor? own, Tensor ptr, Tensor column, Tensor weight,"
    " Tensor ptr_t, Tensor column_t, Tensor weight_t) -> Tensor",
)


@torch.library.impl("lfds::sum_of_neighbours", "default")
def _sum_of_neighbours(
    x: Tensor, own: Tensor | None, ptr: Tensor, column: Tensor, weight: Tensor, *_: Tensor
) -> Tensor:
    return multiply(Rows(ptr, column, weight), x, own)


def _shape(x: Tensor, own: Tensor | None, *_: Tensor) -> Tensor:
    return x.new_empty(x.shape)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.has_own = inputs[1] is not None
    ctx.save_for_backward(*inputs[2:])


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    rows, columns = ctx.saved_tensors[:3], ctx.saved_tensors[3:]
    grad_x = None
    if ctx.needs_input_grad[0]:
        grad_x = torch.ops.lfds.sum_of_neighbours(grad.contiguous(), None, *columns, *rows)
    return grad_x, grad if ctx.has_own else None, None, None, None, None, None, None


torch.library.register_fake("lfds::sum_of_neighbours", _shape)
torch.library.register_autograd("lfds::sum_of_neighbours", _backward, setup_context=_keep)
