"""A table of text with a header, row by row: columns are found by name, rows have all cells.

Cells are separated by commas, semicolons or tabs, whichever the first lines are written with.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lfds.config.messages import choose_from
from lfds.data.errors import DataError, quoted, reading

SEPARATORS = (",", ";", "\t")
"""What may stand between two cells."""

_SAMPLE = 1 << 16
# Where semicolons separate cells, as in much of Europe, a comma is the point of a number.
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(\d+(?:[eE][+-]?\d+)?)")


class Table:
    """An open CSV file.

    Args:
        file: Its path, for messages.
        header: The names of its columns.
        rows: The rows after the header.
    """

    def __init__(self, file: Path, header: Sequence[str], rows: Iterator[tuple[int, list[str]]]):
        self.file = file
        self.header = [name.strip() for name in header]
        self._rows = rows

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line and cells of each row that is not empty; cells have no blanks around them."""
        for line, cells in self._rows:
            if not cells:
                continue
            if len(cells) != len(self.header):
                raise DataError(
                    f"has {len(cells)} cells, but the header has {len(self.header)}",
                    source=self.file,
                    line=line,
                )
            yield line, [cell.strip() for cell in cells]

    def column(self, name: str) -> int:
        """Return the place of a column: the one of exactly this name, else whatever its case."""
        same = [place for place, found in enumerate(self.header) if found == name]
        same = same or [
            place for place, found in enumerate(self.header) if found.lower() == name.lower()
        ]
        if len(same) == 1:
            return same[0]
        if same:
            names = ", ".join(quoted(self.header[place]) for place in same)
            problem = f"has {len(same)} columns for {quoted(name)}: {names}; rename one"
        else:
            fix = choose_from(name, [found for found in self.header if found])
            problem = f"has no column {quoted(name)}; {fix}"
        raise DataError(problem, source=self.file, line=1)


@contextmanager
def open_table(file: Path) -> Iterator[Table]:
    """Open a file in UTF-8 whose cells are separated by commas, semicolons or tabs."""
    try:
        with reading(file), file.open(encoding="utf-8-sig", newline="") as content:
            separator = separator_of(content.read(_SAMPLE))
            content.seek(0)
            reader = csv.reader(content, strict=True, delimiter=separator)
            header = next(reader, [])
            rows = ((reader.line_num, cells) for cells in reader)
            yield Table(file, header, _with_points(rows) if separator == ";" else rows)
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read as CSV in UTF-8 ({error})", source=file) from error


def separator_of(text: str) -> str:
    r"""Return what separates the cells of a table, given its beginning.

    It is what gives all lines the same number of cells, and the most of them; of two that give as
    many, the one that is rarer in text. Where lines differ, or have one cell, it is a comma unless
    others are more.

    >>> separator_of("smiles;logS, measured\nCC;-1,2\n"), separator_of("a\tb\n1\t2\n")
    (';', '\t')
    """
    found = {separator: _cells(text, separator) for separator in SEPARATORS}
    even = any(same for same, _ in found.values())
    return max(reversed(SEPARATORS) if even else SEPARATORS, key=lambda one: found[one])


def _cells(text: str, separator: str) -> tuple[bool, int]:
    """Whether the lines of a text have the same number of cells, and how many the first has."""
    lines = text.splitlines()
    whole = lines if len(text) < _SAMPLE or len(lines) < 2 else lines[:-1]
    try:
        rows = [row for row in csv.reader(whole, delimiter=separator) if row]
    except csv.Error:
        return False, 0
    count = len(rows[0]) if rows else 0
    return count > 1 and all(len(row) == count for row in rows), count


def _with_points(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    for line, cells in rows:
        yield line, [_point(cell) for cell in cells]


def _point(cell: str) -> str:
    number = _DECIMAL_COMMA.fullmatch(cell.strip())
    return cell if number is None else f"{number[1]}.{number[2]}"
