r"""Matrix products over a ragged batch, close to the speed of one plain product.

``torch.nn.functional.grouped_mm`` runs all graphs in one call, but on the CPU takes only float32
whose rows are multiples of 16 bytes.  Everything else on the CPU goes through a loop of ordinary
products: slower on many small graphs, and right for any dtype and width.  Accelerators, which wait
for the host in such a loop, get one product of tiles of the same length.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from lfds.nn.accel import batched
from lfds.nn.accel.dispatch import is_accelerated, only_basic_operations
from lfds.nn.input_checks import check_ptr_values
from lfds.nn.ops.ragged import sum_by_graph


def ragged_gram(
    a: Float[Tensor, "nodes rows"],
    b: Float[Tensor, "nodes columns"],
    ptr: Int[Tensor, "boundaries"],
) -> Float[Tensor, "boundaries-1 rows columns"]:
    r"""Multiply each graph's part of ``a``, transposed, with its part of ``b``; no autograd.

    .. math::
        \mathbf{Y}_g = \mathbf{A}_g^\top \mathbf{B}_g
    """
    if is_accelerated(a):
        return batched.gram(a, b, ptr)
    if takes_grouped(a, b):
        # Rows have gaps where their length is no multiple of 16 bytes, and torch's softmax writes
        # its gradient past such gaps: pack them.
        return F.grouped_mm(a.t(), b, offs=_ends(ptr)).contiguous()
    sizes = ptr.diff().tolist()
    sums = a.new_empty(len(sizes), a.shape[1], b.shape[1])
    for one, other, result in zip(a.split(sizes), b.split(sizes), sums.unbind(), strict=True):
        torch.mm(one.t(), other, out=result)
    return sums


def ragged_matmul(
    a: Float[Tensor, "nodes inner"],
    matrices: Float[Tensor, "graphs inner columns"],
    ptr: Int[Tensor, "boundaries"],
) -> Float[Tensor, "nodes columns"]:
    r"""Multiply every row of ``a`` with the matrix of its graph; no autograd.

    .. math::
        \mathbf{z}_i = \mathbf{a}_i \mathbf{M}_{g(i)}
    """
    if is_accelerated(a):
        return batched.matmul(a, matrices, ptr)
    if takes_grouped(a, matrices):
        return F.grouped_mm(a, matrices, offs=_ends(ptr)).contiguous()
    sizes = ptr.diff().tolist()
    rows = a.new_empty(a.shape[0], matrices.shape[2])
    for part, matrix, result in zip(
        a.split(sizes), matrices.unbind(), rows.split(sizes), strict=True
    ):
        torch.mm(part, matrix, out=result)
    return rows


def takes_grouped(*operands: Tensor) -> bool:
    """Whether ``grouped_mm``, which older torch lacks, can multiply ``operands`` here."""
    return hasattr(F, "grouped_mm") and all(map(_fits_grouped, operands))


def _fits_grouped(operand: Tensor) -> bool:
    if operand.dtype is not torch.float32 or not operand.is_cpu or operand.numel() == 0:
        return False
    # One of the last two dimensions is the contiguous one; every other step is of 16 bytes.
    *rest, row, column = operand.stride()
    if (row == 1) == (column == 1) or operand.data_ptr() % 16:
        return False
    steps = (*rest, row * column)
    return all(step > 0 and step % 4 == 0 for step in steps)


def _ends(ptr: Tensor) -> Tensor:
    return ptr[1:].to(torch.int32)


def weighted_sums(
    weights: Float[Tensor, "nodes rows"],
    x: Float[Tensor, "nodes channels"],
    ptr: Int[Tensor, "boundaries"],
) -> Float[Tensor, "boundaries-1 rows channels"]:
    r"""Sum the nodes of every graph, once for each column of ``weights``.

    .. math::
        \mathbf{Y}_g = \mathbf{A}_g^\top \mathbf{B}_g, \qquad
        \bar{\mathbf{A}}_g = \mathbf{B}_g \bar{\mathbf{Y}}_g^\top, \qquad
        \bar{\mathbf{B}}_g = \mathbf{A}_g \bar{\mathbf{Y}}_g
    """
    if only_basic_operations():
        products = (weights[:, :, None] * x[:, None, :]).flatten(1)
        return sum_by_graph(products, ptr).view(-1, weights.shape[1], x.shape[1])
    sums: Tensor = torch.ops.lfds.weighted_sums(weights, x, ptr)
    return sums


torch.library.define("lfds::weighted_sums", "(Tensor weights, Tensor x, Tensor ptr) -> Tensor")
torch.library.define(
    "lfds::weighted_sums_backward",
    "(Tensor grad, Tensor weights, Tensor x, Tensor ptr) -> (Tensor, Tensor)",
)


def _weighted_sums(weights: Tensor, x: Tensor, ptr: Tensor) -> Tensor:
    if not is_accelerated(x):  # a wrong one would read stray memory
        check_ptr_values(ptr, x.shape[0])
    return ragged_gram(weights.contiguous(), x.contiguous(), ptr)


def _weighted_sums_backward(
    grad: Tensor, weights: Tensor, x: Tensor, ptr: Tensor
) -> tuple[Tensor, Tensor]:
    grad = grad.contiguous()
    by_weights = ragged_matmul(x.contiguous(), grad.mT, ptr)
    return by_weights, ragged_matmul(weights.contiguous(), grad, ptr)


def _shape(weights: Tensor, x: Tensor, ptr: Tensor) -> Tensor:
    return x.new_empty(ptr.shape[0] - 1, weights.shape[1], x.shape[1])


def _backward_shapes(
    grad: Tensor, weights: Tensor, x: Tensor, ptr: Tensor
) -> tuple[Tensor, Tensor]:
    return weights.new_empty(weights.shape), x.new_empty(x.shape)


def _keep(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor], output: Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
    return *torch.ops.lfds.weighted_sums_backward(grad, *ctx.saved_tensors), None


torch.library.impl("lfds::weighted_sums", "default", _weighted_sums)
torch.library.impl("lfds::weighted_sums_backward", "default", _weighted_sums_backward)
torch.library.register_fake("lfds::weighted_sums", _shape)
torch.library.register_fake("lfds::weighted_sums_backward", _backward_shapes)
torch.library.register_autograd("lfds::weighted_sums", _backward, setup_context=_keep)
