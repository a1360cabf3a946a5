"""How kernels are made: compiled on first use for the types they meet, and kept on disk."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np

Kernel = TypeVar("Kernel", bound=Callable[..., object])

# Indices that are known not to be negative spare a question for every access.
Index = np.uint64

# Rows summed in the precision of the data before they go into a sum in double precision.
RUN = np.uint64(64)


def compiled(function: Kernel) -> Kernel:
    """Compile a function of arrays and numbers.

    Sums may be done in another order, which is what makes them fast; infinities and NaN mean what
    they always mean.
    """
    how = {"error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}, "nogil": True}
    try:
        return cast(Kernel, numba.njit(cache=True, **how)(function))
    except RuntimeError:  # no folder to keep it in: compiled anew by every process
        return cast(Kernel, numba.njit(**how)(function))
