"""An earlier reading of the paper in one table: all rows, all datasets."""

from collections.abc import Mapping

from benchmarks.table1.reproduced import count_of_verdicts, entries_of, means_of
from benchmarks.table1.rows import ROWS, as_table, cell_or_not_run, columns_of
from lfds.report.report import Report


def earlier(made: Report, notes: Mapping[str, str]) -> str:
    """Return the part about runs of another reading: the last and the best epochs of each cell."""
    columns = columns_of(made, "paper")
    lines = [[f"`{row}`", *(_cell(made, row, column) for column in columns)] for row in ROWS]
    parts = [
        "### An earlier reading",
        "\n".join(filter(None, [notes.get("earlier"), count_of_verdicts(made)])),
        "Accuracy in %, `last` / `fold-best`; the settings are in each `spec.json`.",
        as_table(("pooling", *columns), lines),
    ]
    return "\n\n".join(filter(None, parts))


def _cell(made: Report, row: str, column: str) -> str:
    entries = entries_of(made, row, column)
    means = means_of(entries)
    if means:
        return f"{means['last']:.1f} / {means['fold-best']:.1f}"
    return cell_or_not_run(entries.get("last"))
