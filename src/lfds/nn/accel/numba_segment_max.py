"""The largest value of each column in runs of rows, and the way back to the rows that hold it."""

import numpy as np

from lfds.nn.accel.numba_compile import Index, compiled

Array = np.ndarray


@compiled
def largest(rows: Array, ptr: Array, out: Array, count: Array) -> None:
    """Write the largest values of every run into ``out``, and into ``count`` how many hold each.

    A run without rows has zeros, held by one; a NaN is larger than everything.
    """
    one = rows.dtype.type(1)
    width = Index(rows.shape[1])
    for g in range(Index(len(ptr) - 1)):
        start, end = Index(ptr[g]), Index(ptr[g + Index(1)])
        for j in range(width):
            out[g, j] = rows[start, j] if start < end else 0
            count[g, j] = one
        for i in range(start + Index(1), end):
            for j in range(width):
                value, most = rows[i, j], out[g, j]
                above = value > most or value != value
                ties = count[g, j] + (one if value == most else 0)
                count[g, j] = one if above else ties
                out[g, j] = value if above else most


@compiled
def share_out(rows: Array, ptr: Array, out: Array, pull: Array, grad: Array) -> None:
    """Give ``pull`` to every row that holds the largest value of its run, zero to the others."""
    zero = rows.dtype.type(0)
    width = Index(rows.shape[1])
    for g in range(Index(len(ptr) - 1)):
        for i in range(Index(ptr[g]), Index(ptr[g + Index(1)])):
            for j in range(width):
                grad[i, j] = pull[g, j] if rows[i, j] == out[g, j] else zero
