"""Loops over nodes, edges and channels in machine code, by numba where it is installed.

Kernels write into NumPy arrays they are given, and know nothing of torch.  :mod:`lfds.nn` has a way
in plain torch for everything, with the same numbers up to rounding, and takes these where they are
to be had (``pip install 'lfds[fast]'``).
"""

from functools import cache


@cache
def numba_installed() -> bool:
    """Whether the kernels can be had: whether there is a numba, and one that fits this NumPy."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True
