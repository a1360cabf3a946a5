r"""Matrix products over a ragged batch, one call of BLAS after the other.

The BLAS is SciPy's, the one that numba calls.  It shares a product out among threads of its
own as soon as that pays off; ours stay below that size, and whoever calls decides about threads.
"""

import numpy as np

from lfds.nn.accel.numba_compile import compiled

Array = np.ndarray


@compiled
def gram(a: Array, b: Array, ptr: Array, most: int, out: Array) -> None:
    r"""Write :math:`\mathbf{A}_g^\top \mathbf{B}_g` of every graph, ``most`` rows at a time."""
    part = np.empty_like(out[:1])
    for g in range(len(ptr) - 1):
        start, end = ptr[g], ptr[g + 1]
        if start == end:
            out[g] = 0
            continue
        stop = min(start + most, end)
        np.dot(a[start:stop].T, b[start:stop], out[g])
        while stop < end:
            start, stop = stop, min(stop + most, end)
            np.dot(a[start:stop].T, b[start:stop], part[0])
            out[g] += part[0]


@compiled
def multiply(a: Array, matrices: Array, turned: bool, ptr: Array, most: int, out: Array) -> None:
    r"""Write :math:`\mathbf{A}_g \mathbf{M}_g` of every graph, ``most`` rows at a time.

    Where they are ``turned``, with :math:`\mathbf{M}_g^\top` in place of :math:`\mathbf{M}_g`.
    """
    for g in range(len(ptr) - 1):
        stop, end = ptr[g], ptr[g + 1]
        while stop < end:
            start, stop = stop, min(stop + most, end)
            if turned:
                np.dot(a[start:stop], matrices[g].T, out[start:stop])
            else:
                np.dot(a[start:stop], matrices[g], out[start:stop])
