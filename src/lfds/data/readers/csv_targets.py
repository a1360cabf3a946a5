"""The cells of a column to predict become classes or quantities; what does not fit has a line."""

import re
from collections.abc import Sequence
from os import PathLike
from typing import TypeAlias

import numpy as np

from lfds.data.errors import DataError, quoted
from lfds.data.readers.arrays import Given

Cell: TypeAlias = tuple[int, str]
"""The line of a cell, and what it holds."""

_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_LARGEST_AMOUNT = float(np.finfo(np.float32).max)
_LIMITS = np.iinfo(np.int64)


def column_targets(cells: Sequence[Cell], source: str | PathLike[str]) -> Given:
    """Return whole numbers and names as classes, other numbers as quantities.

    A column is all numbers or has none: a single ``NA`` among numbers is a value that is missing,
    and does not make a class of each number.
    """
    first_line, first = cells[0]
    are_numbers = _NUMBER.fullmatch(first) is not None
    for line, text in cells:
        if (_NUMBER.fullmatch(text) is not None) != are_numbers:
            raise DataError(
                f"{quoted(text)} is {'no' if are_numbers else 'a'} number, unlike {quoted(first)} "
                f"in line {first_line}; targets need finite numbers or names throughout: "
                f"fill it in, or leave the line out",
                source=source,
                line=line,
            )
    if not are_numbers:
        return np.array([text for _, text in cells])
    if all(_WHOLE.fullmatch(text) for _, text in cells):
        return np.array([_whole(cell, source) for cell in cells], dtype=np.int64)
    return np.array([_amount(cell, source) for cell in cells])


def _whole(cell: Cell, source: str | PathLike[str]) -> int:
    line, text = cell
    # Python refuses to read thousands of digits; no number in range has more than twenty.
    digits = text.lstrip("+-0")[: len(str(_LIMITS.max)) + 1]
    value = int(digits or "0") * (-1 if text.startswith("-") else 1)
    if not _LIMITS.min <= value <= _LIMITS.max:
        raise DataError(
            f"a class needs a whole number from {_LIMITS.min} to {_LIMITS.max}, "
            f"not {quoted(text)}; write quantities with a point",
            source=source,
            line=line,
        )
    return value


def _amount(cell: Cell, source: str | PathLike[str]) -> float:
    line, text = cell
    value = float(text)
    if abs(value) > _LARGEST_AMOUNT:
        raise DataError(
            f"needs a finite number below 3.4e38, the largest of single precision, "
            f"not {quoted(text)}; scale the column",
            source=source,
            line=line,
        )
    return value
