"""Rows of a sparse matrix turned into its columns, by counting."""

import numpy as np

from lfds.nn.accel.numba_compile import Index, compiled

Array = np.ndarray


@compiled
def transpose(
    ptr: Array,
    column: Array,
    weight: Array,
    new_ptr: Array,
    new_column: Array,
    new_weight: Array,
) -> None:
    """Write the transposed matrix; ``new_ptr`` is all zeros before. Entries keep their order."""
    size = Index(len(ptr) - 1)
    for e in range(Index(len(column))):
        new_ptr[Index(column[e]) + Index(1)] += 1
    for i in range(size):
        new_ptr[i + Index(1)] += new_ptr[i]
    place = new_ptr[:-1].copy()
    for i in range(size):
        for e in range(Index(ptr[i]), Index(ptr[i + Index(1)])):
            row = Index(column[e])
            new_column[place[row]] = i
            new_weight[place[row]] = weight[e]
            place[row] += 1
