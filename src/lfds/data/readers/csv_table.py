"""A CSV file with a header, row by row: columns are found by name, and every row has all cells."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lfds.config.messages import choose_from
from lfds.data.errors import DataError, quoted, reading


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
    """Open a CSV file in UTF-8 and read its header."""
    try:
        with reading(file), file.open(encoding="utf-8-sig", newline="") as content:
            reader = csv.reader(content, strict=True)
            header = next(reader, [])
            yield Table(file, header, ((reader.line_num, cells) for cells in reader))
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read as CSV in UTF-8 ({error})", source=file) from error
