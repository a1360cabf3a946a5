"""The library as it comes, judged as the paper judges: all rows that were run, all datasets."""

from collections.abc import Mapping

from benchmarks.table1.reproduced import RULES, cell_by
from benchmarks.table1.rows import as_table, columns_of, settings_said
from lfds.report.report import Report


def ours(made: Report, notes: Mapping[str, str]) -> str:
    """Return the part about runs of our own network under the paper's protocol: three rules."""
    columns = {column: some for column, some in columns_of(made, "paper").items() if some}
    rows = list(dict.fromkeys(series.row for some in columns.values() for series in some))
    lines = [
        [f"`{row}`", *(cell_by(RULES, made, row, column) for column in columns)] for row in rows
    ]
    parts = [
        "### The library as it comes, by the same rules",
        "\n".join(f"- {column}: {settings_said(some)}" for column, some in columns.items()),
        f"Accuracy in %, {' / '.join(f'`{rule}`' for rule in RULES)}.",
        as_table(("pooling", *columns), lines),
        notes.get("ours"),
    ]
    return "\n\n".join(filter(None, parts))
