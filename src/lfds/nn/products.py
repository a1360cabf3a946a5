"""The two matrix products over a ragged batch, close to the speed of one plain product.

``torch.nn.functional.grouped_mm`` runs all graphs in one call, but on the CPU takes only float32
whose rows are multiples of 16 bytes.  Everything else, accelerators included, goes through a loop
of ordinary products: slower on many small graphs, and right for any dtype, width and device.
Neither knows autograd: they are the inside of operators that bring their own backward.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F  # noqa: N812


def ragged_gram(
    a: Float[Tensor, "nodes rows"],
    b: Float[Tensor, "nodes columns"],
    ptr: Int[Tensor, "boundaries"],
) -> Float[Tensor, "boundaries-1 rows columns"]:
    r"""Multiply each graph's part of ``a``, transposed, with its part of ``b``.

    .. math::
        \mathbf{Y}_g = \mathbf{A}_g^\top \mathbf{B}_g
    """
    if takes_grouped(a, b):
        return F.grouped_mm(a.t(), b, offs=_ends(ptr))
    sizes = ptr.diff().tolist()
    out = a.new_empty(len(sizes), a.shape[1], b.shape[1])
    for one, other, result in zip(a.split(sizes), b.split(sizes), out.unbind(), strict=True):
        torch.mm(one.t(), other, out=result)
    return out


def ragged_matmul(
    a: Float[Tensor, "nodes inner"],
    matrices: Float[Tensor, "graphs inner columns"],
    ptr: Int[Tensor, "boundaries"],
) -> Float[Tensor, "nodes columns"]:
    r"""Multiply every row of ``a`` with the matrix of its graph.

    .. math::
        \mathbf{z}_i = \mathbf{a}_i \mathbf{M}_{g(i)}
    """
    if takes_grouped(a, matrices):
        return F.grouped_mm(a, matrices, offs=_ends(ptr))
    sizes = ptr.diff().tolist()
    out = a.new_empty(a.shape[0], matrices.shape[2])
    for rows, matrix, result in zip(
        a.split(sizes), matrices.unbind(), out.split(sizes), strict=True
    ):
        torch.mm(rows, matrix, out=result)
    return out


def takes_grouped(*operands: Tensor) -> bool:
    """Whether ``grouped_mm`` can multiply ``operands`` here."""
    return all(map(_fits_grouped, operands))


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
