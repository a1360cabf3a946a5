"""Text with numbers between commas becomes a table, fast; what is wrong is found by line."""

import math
import re
import warnings
from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from lfds.data.errors import DataError, quoted

Numbers: TypeAlias = NDArray[np.int64] | NDArray[np.float64]

_WHOLE = re.compile(rb"[+-]?[0-9]+")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NEWLINE_TO_COMMA = bytes.maketrans(b"\n", b",")
_LIMITS = np.iinfo(np.int64)
_LONGEST_WHOLE = 40
# Features are kept in single precision; what does not fit would become infinite.
_LARGEST_AMOUNT = float(np.finfo(np.float32).max)
_Number = TypeVar("_Number", int, float)


def int_table(text: bytes, *, columns: int | None, source: str) -> NDArray[np.int64]:
    """Read whole numbers; see :func:`float_table`."""
    body = _body(text)
    values = _read_fast(body, columns, np.dtype(np.int64))
    # The fast reader stops at the largest number there is instead of complaining.
    if values is not None and not ((values == _LIMITS.max) | (values == _LIMITS.min)).any():
        return values.astype(np.int64, copy=False)
    rows = _read_slowly(body, columns, _whole, "whole numbers", source)
    return np.array(rows, dtype=np.int64).reshape(len(rows), -1 if rows else columns or 0)


def float_table(text: bytes, *, columns: int | None, source: str) -> NDArray[np.float64]:
    """Read a table of finite numbers, one row per line, commas between columns.

    Args:
        text: The content of a file.
        columns: How many columns it needs; ``None`` takes what the first line has.
        source: What the file is called in messages.
    """
    body = _body(text)
    values = _read_fast(body, columns, np.dtype(np.float64))
    if values is not None and (np.abs(values) <= _LARGEST_AMOUNT).all():
        return values.astype(np.float64, copy=False)
    rows = _read_slowly(body, columns, _amount, "finite numbers", source)
    return np.array(rows, dtype=np.float64).reshape(len(rows), -1 if rows else columns or 0)


def _body(text: bytes) -> bytes:
    return text.removeprefix(_BYTE_ORDER_MARK).rstrip(b" \t\r\n")


def _read_fast(body: bytes, columns: int | None, dtype: np.dtype[np.generic]) -> Numbers | None:
    """Return the table, or ``None`` where anything at all looks odd."""
    if not body or b"\0" in body:
        return None
    first = body.partition(b"\n")[0]
    columns = first.count(b",") + 1 if columns is None else columns
    if not _cells_are_plain(body, columns):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            # A newline is a comma here; blanks in the separator mean "any blanks or none".
            flat = np.fromstring(body.translate(_NEWLINE_TO_COMMA), dtype=dtype, sep=" , ")
        except (DeprecationWarning, ValueError):
            return None
    table: Numbers = flat.reshape(-1, columns)
    return table


def _cells_are_plain(body: bytes, columns: int) -> bool:
    """Whether each line has ``columns`` cells that numpy cannot misread.

    It would take an empty cell, or a sign alone, for a zero, and ``- 1`` for -1.
    """
    letters = np.frombuffer(body + b"\n", dtype=np.uint8)
    ends = np.flatnonzero((letters == ord(",")) | (letters == ord("\n")))
    if len(ends) % columns:
        return False
    kinds = letters[ends].reshape(-1, columns)
    if (kinds[:, :-1] != ord(",")).any() or (kinds[:, -1] != ord("\n")).any():
        return False
    is_digit = (letters >= ord("0")) & (letters <= ord("9"))
    is_sign = (letters == ord("-")) | (letters == ord("+"))
    if (is_sign[:-1] & ~is_digit[1:] & (letters[1:] != ord("."))).any():
        return False
    starts = np.concatenate([[0], ends[:-1] + 1])
    return bool(np.logical_or.reduceat(is_digit, starts).all())


def _read_slowly(
    body: bytes, columns: int | None, convert: Callable[[bytes], _Number], need: str, source: str
) -> list[list[_Number]]:
    """Read line by line, to name the line that is wrong."""
    rows = []
    for number, line in enumerate(body.split(b"\n") if body else [], start=1):
        cells = [cell.strip() for cell in line.split(b",")]
        columns = len(cells) if columns is None else columns
        if len(cells) != columns:
            raise DataError(
                f"has {len(cells)} column(s) where {columns} are needed: {_shown(line)}; "
                f"the file may be cut short",
                source=source,
                line=number,
            )
        try:
            rows.append([convert(cell) for cell in cells])
        except ValueError:
            raise DataError(
                f"needs {need}, not {_shown(line)}", source=source, line=number
            ) from None
    return rows


def _whole(cell: bytes) -> int:
    value = int(cell) if _WHOLE.fullmatch(cell) and len(cell) <= _LONGEST_WHOLE else None
    if value is None or not _LIMITS.min <= value <= _LIMITS.max:
        raise ValueError
    return value


def _amount(cell: bytes) -> float:
    value = float(cell) if b"_" not in cell else math.nan
    if not abs(value) <= _LARGEST_AMOUNT:
        raise ValueError
    return value


def _shown(line: bytes) -> str:
    return quoted(line.decode("utf-8", "replace").strip())
