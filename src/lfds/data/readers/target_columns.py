"""Columns of text as the targets of a GraphSet; with several, some entries may be missing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lfds.config.messages import first_of
from lfds.data.errors import DataError, quoted
from lfds.data.graphset import MISSING_CLASS
from lfds.data.readers.arrays import targets_from
from lfds.data.readers.tables import Cell, Task, is_number, targets_of_column

Missing: TypeAlias = Literal["auto", "keep"]
"""Whether each row needs a target, or may lack all of them."""

_MISSING_NUMBERS = frozenset(("na", "n/a", "nan", "null", "none"))


@dataclass(frozen=True)
class Targets:
    """The targets of some graphs, as in a :class:`GraphSet`.

    Attributes:
        y: int64 for classes, float32 for values.
        classes: Names of the classes; empty for regression.
        names: Name of each target.
    """

    y: Tensor
    classes: tuple[str | int, ...]
    names: tuple[str, ...]


def is_missing(text: str, *, numeric: bool) -> bool:
    """Whether a cell has no value; words such as NA are names in a column of names."""
    return not text or (numeric and text.lower() in _MISSING_NUMBERS)


def is_numeric(texts: Sequence[str]) -> bool:
    """Whether a column has numbers, besides cells without value."""
    known = (text for text in texts if not is_missing(text, numeric=True))
    return any(map(is_number, known))


def no_values(name: str, columns: int, source: str | PathLike[str]) -> DataError:
    """Return the error of a column without values.

    Args:
        name: Of the column.
        columns: Number of columns to predict.
        source: The file.
    """
    fix = "leave it out" if columns > 1 else "fill it in, or name another column as target"
    return DataError(f"column {quoted(name)} has no values; {fix}", source=source)


def targets_of_columns(
    columns: Mapping[str, Sequence[Cell]],
    source: str | PathLike[str],
    task: Task = "auto",
    missing: Missing = "auto",
) -> Targets:
    """Return columns as targets, one row for each graph.

    A single column has no missing cells. Several are all of classes or all of numbers; classes are
    the same two for all of them.

    Args:
        columns: The cells of each column, by its name.
        source: The file, for messages.
        task: What to read the columns as; ``auto`` decides by their values.
        missing: With ``"keep"`` a single column is read as one of several, and some columns may be
            empty; for regression all of them.
    """
    if len(columns) == 1 and missing == "auto":
        ((name, cells),) = columns.items()
        y, classes = targets_from(targets_of_column(cells, source, task), len(cells))
        return Targets(y, classes, (name,))
    numbers = missing == "keep" and task == "regression"
    known = {name: _known(cells, numbers=numbers) for name, cells in columns.items()}
    empty = [name for name, cells in known.items() if not cells]
    if empty and (missing == "auto" or (len(empty) == len(columns) and not numbers)):
        raise no_values(empty[0], len(columns), source)
    filled = [name for name in columns if name not in empty]
    values = {name: targets_of_column(known[name], source, task) for name in filled}
    numeric = [name for name, found in values.items() if found.dtype.kind == "f"]
    named = [name for name, found in values.items() if found.dtype.kind == "U"]
    if numeric and named:
        raise DataError(
            f"{quoted(numeric[0])} has numbers and {quoted(named[0])} has names; several targets "
            f"are all classes or all numbers: fit them one by one",
            source=source,
        )
    if numeric and task == "auto":  # numbers that could be classes are numbers as well
        values = {name: targets_of_column(known[name], source, "regression") for name in filled}
    classification = not numeric and not numbers
    classes = shared_classes(values, source) if classification else ()
    rows = len(next(iter(columns.values())))
    table = np.full((rows, len(columns)), MISSING_CLASS if classification else np.nan)
    for place, (name, cells) in enumerate(columns.items()):
        if name in empty:
            continue
        lines = {line for line, _ in known[name]}
        where = np.array([line in lines for line, _ in cells])
        found = values[name]
        table[where, place] = np.searchsorted(classes, found) if classification else found
    kind = np.int64 if classification else np.float32
    return Targets(torch.from_numpy(table.astype(kind)), classes, tuple(columns))


def _known(cells: Sequence[Cell], *, numbers: bool) -> list[Cell]:
    numeric = numbers or is_numeric([text for _, text in cells])
    return [(line, text) for line, text in cells if not is_missing(text, numeric=numeric)]


def shared_classes(
    values: Mapping[str, NDArray[np.generic]], source: str | PathLike[str]
) -> tuple[str | int, ...]:
    """Return the two classes of several targets, given the classes in each."""
    first: NDArray[np.generic] | None = None
    for name, found in values.items():
        same_kind = first is None or first.dtype.kind == found.dtype.kind
        both = np.unique(found if first is None or not same_kind else np.append(first, found))
        if not same_kind or len(both) > 2:
            before = "" if first is None else f" and those before it {first_of(first.tolist())}"
            numbers = all(one.dtype.kind == "i" for one in values.values())
            fix = "choose task='regression' for numbers" if numbers else "name them alike"
            raise DataError(
                f"several targets need the same two classes, and {quoted(name)} has "
                f"{first_of(np.unique(found).tolist())}{before}; {fix}, or fit it alone",
                source=source,
            )
        first = both
    assert first is not None
    classes: tuple[str | int, ...] = tuple(first.tolist())
    return classes
