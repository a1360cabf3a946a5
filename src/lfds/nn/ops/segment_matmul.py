"""The two matrix products over a ragged batch, close to the speed of one plain product.

Native kernels call BLAS for one graph after the other, where they are to be had and graphs are
small.  Else ``torch.nn.functional.grouped_mm`` runs all graphs in one call, but on the CPU takes
only float32 whose rows are multiples of 16 bytes.  Everything else, accelerators included, goes
through a loop of ordinary products: slower on many small graphs, and right for any dtype, width and
device.
What ``grouped_mm`` returns has gaps between its rows where their length is no multiple of 16 bytes;
it is packed, since torch's softmax writes its gradient past such gaps without a word.
None of them knows autograd: they are the inside of operators that bring their own backward.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from lfds.nn.accel.dispatch import runs_natively

# Multiplications for which OpenBLAS starts no threads.
MOST = 2**18
# Rows that may be multiplied at a time below which products of torch are the faster ones.
FEWEST = 48
# Nodes of a mean graph above which they are.
LARGE = 256


def ragged_gram(
    a: Float[Tensor, "nodes rows"],
    b: Float[Tensor, "nodes columns"],
    ptr: Int[Tensor, "boundaries"],
) -> Float[Tensor, "boundaries-1 rows columns"]:
    r"""Multiply each graph's part of ``a``, transposed, with its part of ``b``.

    .. math::
        \mathbf{Y}_g = \mathbf{A}_g^\top \mathbf{B}_g
    """
    most = rows_at_once(a.shape[1] * b.shape[1])
    if most >= FEWEST and _fit_native(a, b, ptr):
        from lfds.nn.accel.numba_segment_matmul import gram

        sums = a.new_empty(ptr.shape[0] - 1, a.shape[1], b.shape[1])
        first, second, bounds, out = (part.detach().numpy() for part in (a, b, ptr, sums))
        gram(first, second, bounds, most, out)
        return sums
    if takes_grouped(a, b):
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
    r"""Multiply every row of ``a`` with the matrix of its graph.

    .. math::
        \mathbf{z}_i = \mathbf{a}_i \mathbf{M}_{g(i)}
    """
    most = rows_at_once(matrices.shape[1] * matrices.shape[2])
    turned = matrices.mT.is_contiguous()
    laid = matrices.mT if turned else matrices
    if most >= FEWEST and _fit_native(a, laid, ptr):
        from lfds.nn.accel.numba_segment_matmul import multiply

        rows = a.new_empty(a.shape[0], matrices.shape[2])
        first, second, bounds, out = (part.detach().numpy() for part in (a, laid, ptr, rows))
        multiply(first, second, turned, bounds, most, out)
        return rows
    if takes_grouped(a, matrices):
        return F.grouped_mm(a, matrices, offs=_ends(ptr)).contiguous()
    sizes = ptr.diff().tolist()
    rows = a.new_empty(a.shape[0], matrices.shape[2])
    for part, matrix, result in zip(
        a.split(sizes), matrices.unbind(), rows.split(sizes), strict=True
    ):
        torch.mm(part, matrix, out=result)
    return rows


def rows_at_once(size: int) -> int:
    """Rows that BLAS may multiply with so large a matrix before it starts threads of its own."""
    return MOST // max(size, 1)


def _fit_native(a: Tensor, other: Tensor, ptr: Tensor) -> bool:
    """Whether kernels multiply these: values of one kind that lie in a row, of small graphs."""
    fit = a.dtype == other.dtype and a.is_contiguous() and other.is_contiguous()
    small = a.shape[0] <= LARGE * (ptr.shape[0] - 1)
    return fit and small and other.numel() > 0 and a.numel() > 0 and runs_natively(a)


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
