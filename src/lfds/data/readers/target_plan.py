"""What the target columns of a long table are, decided in one pass that keeps few cells."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike

import numpy as np
import torch

from lfds.data.errors import DataError, quoted
from lfds.data.graphset import MISSING_CLASS
from lfds.data.readers.arrays import targets_from
from lfds.data.readers.tables import (
    Cell,
    Task,
    are_classes,
    is_number,
    mixed_targets,
    targets_of_column,
)
from lfds.data.readers.target_columns import Targets, is_missing, no_values, shared_classes

_Source = str | PathLike[str]
# With more different cells than this, numbers are values and not classes.
_MOST_DIFFERENT = 1 << 20


@dataclass
class _Column:
    """What is known of a column.

    Attributes:
        numeric: Whether it has numbers, besides cells without value.
        count: Number of cells with a value.
        different: The different cells, and the first line of each.
        many: Whether there were too many of them to go on.
    """

    numeric: bool = False
    count: int = 0
    different: dict[str, int] = field(default_factory=dict)
    many: bool = False

    def add(self, line: int, text: str) -> None:
        if is_missing(text, numeric=True):
            return
        self.count += 1
        self.numeric = self.numeric or is_number(text)
        if not self.many and text not in self.different:
            self.different[text] = line
            self.many = len(self.different) > _MOST_DIFFERENT

    def task(self) -> Task:
        if not self.numeric:
            return "classification"
        classes = not self.many and are_classes(set(self.different), self.count)
        return "classification" if classes else "regression"

    def cells(self) -> list[Cell]:
        return [(line, text) for text, line in self.different.items()]


@dataclass(frozen=True)
class TargetPlan:
    """How the cells of target columns are read.

    Attributes:
        names: Headers of the columns.
        numeric: Whether each has numbers.
        task: What they are read as.
        codes: The class of every cell of several columns of classes; empty otherwise.
        classes: The classes of several columns; empty otherwise.
        source: The file, for messages.
    """

    names: tuple[str, ...]
    numeric: tuple[bool, ...]
    task: Task
    codes: dict[str, int]
    classes: tuple[str | int, ...]
    source: _Source

    def targets(self, lines: Sequence[int], rows: Sequence[tuple[str, ...]]) -> Targets:
        """Return the targets of some rows; a single column has no missing cells."""
        columns = [list(zip(lines, cells, strict=True)) for cells in zip(*rows, strict=True)]
        if len(columns) == 1:
            self._check(columns[0], numeric=self.numeric[0])
            values = targets_of_column(columns[0], self.source, self.task)
            y, classes = targets_from(values, len(lines))
            return Targets(y, classes, self.names)
        classify = self.task == "classification"
        table = np.full((len(lines), len(columns)), MISSING_CLASS if classify else np.nan)
        for place, (column, numeric) in enumerate(zip(columns, self.numeric, strict=True)):
            missing = [is_missing(text, numeric=numeric) for _, text in column]
            known = [row for row, lacks in enumerate(missing) if not lacks]
            cells = [column[k] for k in known]
            self._check(cells, numeric=numeric)
            if classify:
                table[known, place] = [self.codes[text] for _, text in cells]
            elif cells:
                table[known, place] = targets_of_column(cells, self.source, self.task)
        y = torch.from_numpy(table.astype(np.int64 if classify else np.float32))
        return Targets(y, self.classes, self.names)

    def lacking(self, texts: tuple[str, ...], *, skipping: bool) -> str | None:
        """Return why a row has no target; None if it has one.

        Args:
            texts: Its target cells.
            skipping: Whether such rows are skipped: then words such as NA are missing numbers,
                as they always are in one of several columns.
        """
        words = skipping or len(self.names) > 1
        pairs = zip(texts, self.numeric, strict=True)
        if not all(is_missing(text, numeric=numeric and words) for text, numeric in pairs):
            return None
        return f"lacks a value for {quoted(', '.join(self.names))}"

    def _check(self, cells: Sequence[Cell], *, numeric: bool) -> None:
        for line, text in cells:
            if is_number(text) != numeric:
                raise DataError(
                    mixed_targets(text, "other cells of its column", numeric=numeric),
                    source=self.source,
                    line=line,
                )


def plan_targets(
    rows: Iterable[tuple[int, tuple[str, ...]]],
    names: Sequence[str],
    source: _Source,
    task: Task = "auto",
) -> TargetPlan:
    """Decide what target columns are, as they are read in a short table.

    Args:
        rows: Line and target cells of every row.
        names: Headers of the columns.
        source: The file, for messages.
        task: What to read the columns as; ``auto`` decides by their values.
    """
    columns = [_Column() for _ in names]
    for line, texts in rows:
        for column, text in zip(columns, texts, strict=True):
            column.add(line, text)
    for name, column in zip(names, columns, strict=True):
        if not column.count:
            raise no_values(name, len(names), source)
    if task == "auto":
        regressed = any(column.task() == "regression" for column in columns)
        task = "regression" if regressed else "classification"
    numeric = tuple(column.numeric for column in columns)
    if len(columns) == 1 or task == "regression":
        return TargetPlan(tuple(names), numeric, task, {}, (), source)
    found = {
        name: targets_of_column(column.cells(), source, task)
        for name, column in zip(names, columns, strict=True)
    }
    classes = shared_classes(found, source)
    different = {text for column in columns for text in column.different}
    codes = {text: classes.index(_as_class(text, source)) for text in different}
    return TargetPlan(tuple(names), numeric, task, codes, classes, source)


def _as_class(text: str, source: _Source) -> str | int:
    (found,) = targets_of_column([(0, text)], source, "classification").tolist()
    name: str | int = found
    return name
