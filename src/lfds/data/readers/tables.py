"""Text with numbers as tables: read fast, and line by line where something is wrong."""

import re
import warnings
from collections.abc import Callable, Collection, Sequence
from os import PathLike
from typing import Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from lfds.config.budget import over_budget
from lfds.data.errors import DataError, TaskError, quoted

Cell: TypeAlias = tuple[int, str]
"""The line of a cell, and its text."""

Task: TypeAlias = Literal["auto", "classification", "regression"]
"""What targets are read as; ``auto`` decides by their values."""

_Table: TypeAlias = NDArray[np.int64] | NDArray[np.float64]
_Number = TypeVar("_Number", int, float)
_Source: TypeAlias = str | PathLike[str]

_INT = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The text, a copy without line breaks, the ends of all cells and the numbers, of two letters each.
_BYTES_PER_LETTER = 10
_NEWLINE_TO_COMMA = bytes.maketrans(b"\n", b",")
_INT64 = np.iinfo(np.int64)
# Numbers are stored in single precision; larger ones would become infinite.
_MAX_FLOAT = float(np.finfo(np.float32).max)
# More classes than this, with fewer graphs of each, are rare; as values to regress they are common.
_MANY_CLASSES, _FEW_GRAPHS = 10, 10


def check_text_size(size: int, source: _Source) -> None:
    """Raise a DataError if a text of this size cannot be read in the memory that may be used."""
    missing = over_budget(_BYTES_PER_LETTER * size)
    if missing is not None:
        raise DataError(
            f"has {size / 1e6:,.0f} MB of text, which {missing}; use fewer graphs", source=source
        )


def int_table(text: bytes, *, columns: int | None, source: str) -> NDArray[np.int64]:
    """Read integers; see :func:`float_table`."""
    body = _body(text)
    values = _read_fast(body, columns, np.dtype(np.int64))
    # numpy clips numbers that are too large to the largest one.
    if values is not None and not ((values == _INT64.max) | (values == _INT64.min)).any():
        return values.astype(np.int64, copy=False)
    rows = _read_by_line(body, columns, _to_int, "whole numbers", source)
    return np.array(rows, dtype=np.int64).reshape(len(rows), -1 if rows else columns or 0)


def float_table(text: bytes, *, columns: int | None, source: str) -> NDArray[np.float64]:
    """Read finite numbers, one row per line, separated by commas.

    Args:
        text: The content of a file.
        columns: Number of columns needed; ``None`` takes the number in the first line.
        source: Name of the file in messages.
    """
    body = _body(text)
    values = _read_fast(body, columns, np.dtype(np.float64))
    if values is not None and (np.abs(values) <= _MAX_FLOAT).all():
        return values.astype(np.float64, copy=False)
    rows = _read_by_line(body, columns, _to_float, "finite numbers", source)
    return np.array(rows, dtype=np.float64).reshape(len(rows), -1 if rows else columns or 0)


def point_table(lines: Sequence[str], source: _Source) -> NDArray[np.float64]:
    """Read x, y and z from the first three columns of each line; further columns are ignored.

    Columns are separated by blanks or commas; ``#`` begins a comment. A first line with the
    number of points is skipped.
    """
    try:
        return _read_points_fast(lines)
    except ValueError:
        rows = [
            (number, cells)
            for number, line in enumerate(lines, start=1)
            if (cells := line.partition("#")[0].replace(",", " ").split())
        ]
    if rows and len(rows[0][1]) == 1 and rows[0][1][0] == str(len(rows) - 1):
        rows = rows[1:]
    if not rows:
        raise DataError("holds no points; a cloud has x, y and z on each line", source=source)
    return np.array([_point(cells, source, number) for number, cells in rows])


def targets_of_column(
    cells: Sequence[Cell], source: _Source, task: Task = "auto"
) -> NDArray[np.generic]:
    """Return a column of text as targets: integers or names for classes, floats for regression.

    By default names are classes, and numbers are where they are whole and there are few of them:
    at most two different ones, however they are written, or few in relation to the rows.

    A column has only numbers or none: a single ``NA`` among numbers is a missing value and must
    not turn every number into a class.

    Args:
        cells: The column, at least one cell.
        source: The file, for messages.
        task: What to read the column as.
    """
    first_line, first = cells[0]
    numeric = _FLOAT.fullmatch(first) is not None
    for line, text in cells:
        if (_FLOAT.fullmatch(text) is not None) != numeric:
            raise DataError(
                mixed_targets(text, f"{quoted(first)} in line {first_line}", numeric=numeric),
                source=source,
                line=line,
            )
    if not numeric and task == "regression":
        problem = f"regression needs numbers, not {quoted(first)}"
        raise TaskError(problem, found=quoted(first), source=source, line=first_line)
    if not numeric:
        return np.array([text for _, text in cells])
    different = {text for _, text in cells}
    if task == "classification" or (task == "auto" and are_classes(different, len(cells))):
        need = f"a class needs a whole number from {_INT64.min} to {_INT64.max}"
        fix = "for numbers choose task='regression'"
        try:
            return np.array(_converted(cells, _to_class, need, fix, source), dtype=np.int64)
        except DataError as error:
            wrong = next(text for line, text in cells if line == error.line)
            raise TaskError(
                error.problem, found=quoted(wrong), source=source, line=error.line
            ) from None
    need = "needs a finite number below 3.4e38, the largest of single precision"
    return np.array(_converted(cells, _to_float, need, "scale the column", source))


def mixed_targets(text: str, others: str, *, numeric: bool) -> str:
    """Return what is wrong with a cell of a column of targets, and how to mend it.

    Args:
        text: The cell.
        others: What other cells are.
        numeric: Whether others are numbers.
    """
    what = "no number" if numeric else "a number"
    fix = "fill it in, or remove the line" if numeric else f"name it, as {quoted(f'class {text}')}"
    return (
        f"{quoted(text)} is {what}, unlike {others}; targets need finite numbers or names "
        f"throughout: {fix}"
    )


def is_number(text: str) -> bool:
    """Whether a cell is a number."""
    return _FLOAT.fullmatch(text) is not None


def are_classes(different: Collection[str], count: int) -> bool:
    """Whether a column of numbers is one of classes.

    Args:
        different: Its different cells.
        count: Number of cells.
    """
    if all(_INT.fullmatch(text) for text in different):
        return not are_many_classes(len(different), count)
    values = {float(text) for text in different}
    return len(values) == 2 and all(value.is_integer() for value in values)


def are_many_classes(classes: int, graphs: int) -> bool:
    """Whether there are so many different numbers that they are rather values to regress."""
    return classes > _MANY_CLASSES and graphs < classes * _FEW_GRAPHS


def _converted(
    cells: Sequence[Cell], convert: Callable[[str], _Number], need: str, fix: str, source: _Source
) -> list[_Number]:
    values = []
    for line, text in cells:
        try:
            values.append(convert(text))
        except ValueError:
            problem = f"{need}, not {quoted(text)}; {fix}"
            raise DataError(problem, source=source, line=line) from None
    return values


def _body(text: bytes) -> bytes:
    return text.removeprefix(_BYTE_ORDER_MARK).rstrip(b" \t\r\n")


def _read_fast(body: bytes, columns: int | None, dtype: np.dtype[np.generic]) -> _Table | None:
    """Return the table, or ``None`` if anything is unusual."""
    if not body or b"\0" in body:
        return None
    columns = body.partition(b"\n")[0].count(b",") + 1 if columns is None else columns
    if not _is_regular(body, columns):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            # Newlines become commas; blanks in the separator match any number of blanks.
            flat = np.fromstring(body.translate(_NEWLINE_TO_COMMA), dtype=dtype, sep=" , ")
        except (DeprecationWarning, ValueError):
            return None
    table: _Table = flat.reshape(-1, columns)
    return table


def _is_regular(body: bytes, columns: int) -> bool:
    """Whether each line has ``columns`` cells that numpy reads correctly.

    It would read an empty cell, or a sign alone, as zero, and ``- 1`` as -1.
    """
    letters = np.frombuffer(body + b"\n", dtype=np.uint8)
    ends = np.flatnonzero((letters == ord(",")) | (letters == ord("\n")))
    if len(ends) % columns:
        return False
    separators = letters[ends].reshape(-1, columns)
    if (separators[:, :-1] != ord(",")).any() or (separators[:, -1] != ord("\n")).any():
        return False
    is_digit = (letters >= ord("0")) & (letters <= ord("9"))
    is_sign = (letters == ord("-")) | (letters == ord("+"))
    if (is_sign[:-1] & ~is_digit[1:] & (letters[1:] != ord("."))).any():
        return False
    starts = np.concatenate([[0], ends[:-1] + 1])
    return bool(np.logical_or.reduceat(is_digit, starts).all())


def _read_by_line(
    body: bytes, columns: int | None, convert: Callable[[str], _Number], need: str, source: str
) -> list[list[_Number]]:
    """Read line by line, to name the line that is wrong."""
    rows = []
    for number, line in enumerate(body.split(b"\n") if body else [], start=1):
        text = line.decode("utf-8", "replace")
        cells = [cell.strip(" \t\r\x0b\f") for cell in text.split(",")]
        columns = len(cells) if columns is None else columns
        if len(cells) != columns:
            raise DataError(
                f"has {len(cells)} column(s) where {columns} are needed: {quoted(text.strip())}; "
                f"the file may be truncated",
                source=source,
                line=number,
            )
        try:
            rows.append([convert(cell) for cell in cells])
        except ValueError:
            problem = f"needs {need}, not {quoted(text.strip())}"
            raise DataError(problem, source=source, line=number) from None
    return rows


def _read_points_fast(lines: Sequence[str]) -> NDArray[np.float64]:
    if not any(lines):
        raise ValueError("nothing to read")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy only warns of a table without rows
        try:
            return np.loadtxt(lines, usecols=(0, 1, 2), ndmin=2, dtype=np.float64)
        except UserWarning as warning:
            raise ValueError(str(warning)) from warning


def _point(cells: list[str], source: _Source, line: int) -> list[float]:
    if len(cells) < 3:
        need = f"has {len(cells)} of the three numbers x, y and z"
        raise DataError(f"{need}; complete or remove the line", source=source, line=line)
    point = []
    for cell in cells[:3]:
        try:
            point.append(float(cell))
        except ValueError:
            problem = f"{quoted(cell)} is not a number; x, y and z need numbers"
            raise DataError(problem, source=source, line=line) from None
    return point


def _to_int(text: str) -> int:
    # Python refuses to convert thousands of digits; no int64 has more than nineteen.
    digits = text.lstrip("+-0")
    if not _INT.fullmatch(text) or len(digits) > len(str(_INT64.max)):
        raise ValueError
    value = int(digits or "0") * (-1 if text.startswith("-") else 1)
    if not _INT64.min <= value <= _INT64.max:
        raise ValueError
    return value


def _to_class(text: str) -> int:
    if _INT.fullmatch(text):
        return _to_int(text)
    value = _to_float(text)
    if not value.is_integer() or not _INT64.min <= value < _INT64.max:
        raise ValueError
    return int(value)


def _to_float(text: str) -> float:
    # Python would also accept underscores, words such as "nan", and digits of other scripts.
    if not _FLOAT.fullmatch(text) or abs(value := float(text)) > _MAX_FLOAT:
        raise ValueError
    return value
