"""An earlier reading of the paper in one table: all rows, all datasets."""

from collections.abc import Mapping

from benchmarks.table1.reproduced import cell_by, count_of_verdicts
from benchmarks.table1.rows import ROWS, as_table, columns_of
from lfds.report.report import Report
from lfds.results.record import Rule

SHOWN: tuple[Rule, ...] = ("last", "fold-best")


def earlier(made: Report, notes: Mapping[str, str]) -> str:
    """Return the part about runs of another reading: the last and the best epochs of each cell."""
    columns = columns_of(made, "paper")
    lines = [
        [f"`{row}`", *(cell_by(SHOWN, made, row, column) for column in columns)] for row in ROWS
    ]
    parts = [
        "### An earlier reading",
        "\n".join(filter(None, [notes.get("earlier"), count_of_verdicts(made)])),
        "Accuracy in %, `last` / `fold-best`; the settings are in each `spec.json`.",
        as_table(("pooling", *columns), lines),
    ]
    return "\n\n".join(filter(None, parts))
