"""Quantities as people give them, checked: one or several for each graph, and none missing."""

import reprlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.estimator.targets import need_targets, one_each

# Squares of targets, and sums of them, are numbers as well.
_LARGEST_AMOUNT = 1e100


def amounts(y: Any, graphs: GraphSet) -> NDArray[np.float64]:
    """Return the quantities of every graph, ``[graphs]`` or ``[graphs, targets]``."""
    if y is None:
        need_targets(graphs)
        y = np.array(graphs.classes)[graphs.y.numpy()] if graphs.classes else graphs.y
    values = one_each(y, len(graphs))
    if values.ndim > 2 or values.shape[1:] == (0,) or values.dtype.kind not in "iuf":
        raise DataError(
            f"needs one number, or one row of numbers, for each graph, not {values.dtype} of shape "
            f"{list(values.shape)}; use LFDSClassifier for names",
            source="y",
        )
    values = values.astype(np.float64)
    rows = values.reshape(len(values), -1)
    _need_all(np.isfinite(rows), values, "finite; leave that graph out")
    small = np.abs(rows) <= _LARGEST_AMOUNT
    _need_all(small, values, f"no larger than {_LARGEST_AMOUNT:g}; use other units")
    return values


def _need_all(fine: NDArray[np.bool_], values: NDArray[np.float64], need: str) -> None:
    wrong = ~fine.all(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        shown = reprlib.repr(values[row].tolist())
        raise DataError(f"target {row} is {shown}, but needs to be {need}", source="y")
