"""Write the tables as CSV files, and as Markdown between the marks of the page."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from pathlib import Path

from benchmarks.marks import markdown_table, write_between
from benchmarks.tables.cells import fill
from benchmarks.tables.manifest import Summary, Table
from benchmarks.tables.rows import (
    ALL,
    CsvRow,
    comparison_rows,
    cost_rows,
    planned_rows,
    reproduction_rows,
)
from lfds.data.atomic_io import atomic_write
from lfds.report.formatting import p_text, points
from lfds.results.record import Record

ALPHA = 0.05
ONE_SEED = "\N{SUPERSCRIPT ONE}"
NOT_RUN = "not run"
COMPARISONS = {
    "main": "accuracy",
    "shorter": "accuracy",
    "ablations": "validation",
    "selection": "validation",
}
"""Tables of rows beside their baseline, and the column of the CSV file that the page shows."""


def write_tables(
    tables: Mapping[str, Table], records: Sequence[Record], results: Path, page: Path
) -> None:
    """Write the CSV file of every table, and its Markdown between the marks of the page."""
    cells = {name: fill(table, records) for name, table in tables.items()}
    compared = {name: list(comparison_rows(tables[name], cells[name])) for name in COMPARISONS}
    paper = list(reproduction_rows(cells["reproduction"]))
    costs = list(cost_rows({n: cells[n] for n in ("main", "reproduction")}, records))
    overall = list(planned_rows(tables["main"], cells["main"]))
    written = {
        **{name: (rows, comparison(rows, COMPARISONS[name])) for name, rows in compared.items()},
        "planned": (overall, planned(overall)),
        "reproduction": (paper, reproduction(paper)),
        "cost": (costs, cost([row for row in costs if row["table"] == "main"])),
    }
    for name, (rows, markdown) in written.items():
        atomic_write(results / f"{name}.csv", as_csv(rows).encode())
        write_between(page, name, markdown)


def write_summary(table: Table, records: Sequence[Record], readme: Path) -> None:
    """Write the part of a table that README shows."""
    rows = list(comparison_rows(table, fill(table, records)))
    write_between(readme, table.name, summary(rows, table.summary))


def summary(rows: Sequence[CsvRow], shown: Summary) -> str:
    """Return the mean accuracies of some rows on some datasets, and the mean gain on all."""
    at = {(row["row"], row["dataset"]): row for row in rows}
    datasets = len(names(rows, "dataset")) + 1  # so that it is always said how many there are
    lines = [
        [
            f"`{name}`",
            *(_in_summary(at[name, dataset]) for dataset in shown.datasets),
            _mean_gain(at.get((name, ALL)), datasets),
        ]
        for name in shown.rows
    ]
    return markdown_table(["", *shown.datasets, "mean gain"], lines)


def _in_summary(cell: CsvRow) -> str:
    mark = ONE_SEED if cell["seeds"] == 1 and cell["requested"] > cell["folds"] else ""
    return f"{_accuracy(cell, 'accuracy', spread=False)}{mark}"


def as_csv(rows: Sequence[CsvRow]) -> str:
    """Return rows as CSV; fractions have six digits."""
    text = StringIO()
    names = dict.fromkeys(name for row in rows for name in row)
    writer = csv.DictWriter(text, list(names), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
    return text.getvalue()


def comparison(rows: Sequence[CsvRow], measure: str) -> str:
    """Return accuracies, marked where they differ from the baseline, and mean gains.

    Rows and datasets of which nothing was run are named below the table.

    Args:
        rows: Of the CSV file.
        measure: The column that is shown; ``accuracy`` with its standard deviation.
    """
    datasets, lines = begun(rows, "dataset"), []
    seeded = any(row["requested"] > row["folds"] for row in rows if row["dataset"] != ALL)
    for name in begun(rows):
        cells = {row["dataset"]: row for row in rows if row["row"] == name}
        here = [cells[dataset] for dataset in datasets]
        single = {cell["seeds"] == 1 for cell in here if cell["seeds"]} if seeded else {False}
        # A mark at the name of a row is for all of its cells.
        marks = [ONE_SEED if cell["seeds"] == 1 and len(single) > 1 else "" for cell in here]
        texts = [f"{_accuracy(cell, measure)}{m}" for cell, m in zip(here, marks, strict=True)]
        label = f"`{name}`{ONE_SEED if single == {True} else ''}"
        lines.append([label, *texts, _mean_gain(cells.get(ALL), len(datasets))])
    return f"{markdown_table(['', *datasets, 'mean gain'], lines)}\n\n{below(rows)}"


def _accuracy(cell: CsvRow, measure: str, *, spread: bool = True) -> str:
    if cell[measure] is None:
        return f"{cell['completed']} of {cell['folds']} folds" if cell["completed"] else NOT_RUN
    text = f"{cell[measure]:.1f}"
    text += f" ± {cell['std']:.1f}" if spread and measure == "accuracy" else ""
    return _marked(text, cell["gain"], cell["p_holm"])


def _mean_gain(row: CsvRow | None, datasets: int) -> str:
    if row is None:
        return ""
    text = points(row["gain"] / 100)
    text += f" on {row['datasets']}" if row["datasets"] < datasets else ""
    text += "" if row["p_holm"] is None else f" (p {p_text(row['p_holm'])})"
    return _marked(text, row["gain"], row["p_holm"])


def _marked(text: str, gain: float | None, p: float | None) -> str:
    if gain is None or p is None or p >= ALPHA:
        return text
    return f"**{text}**" if gain > 0 else f"*{text}*"


def planned(rows: Sequence[CsvRow]) -> str:
    """Return one line for each comparison that the table is about."""
    lines = [
        [
            f"`{row['row']}` and `{row['baseline']}`",
            _compared_on(row),
            f"{row['ahead']} / {row['behind']}",
            _marked(points(row["gain"] / 100), row["gain"], row["p_holm"]),
            p_text(row["p"]),
            p_text(row["p_holm"]),
        ]
        for row in rows
    ]
    titles = ["", "on", "ahead / behind", "mean gain", "p", "p, Holm"]
    return markdown_table(titles, lines) if rows else f"Everything is {NOT_RUN}."


def _compared_on(row: CsvRow) -> str:
    if row["dataset"] != ALL:
        return f"{row['dataset']}{ONE_SEED if row['seeds'] == 1 else ''}"
    count = row["datasets"]
    text = "1 dataset" if count == 1 else f"{count} datasets"
    return f"{text}, without parts" if row["without"] else text


def reproduction(rows: Sequence[CsvRow]) -> str:
    """Return one line for each row that was run: the paper's accuracies, and ours by two rules."""
    datasets, lines = names(rows, "dataset"), []
    for name in begun(rows):
        cells = {row["dataset"]: row for row in rows if row["row"] == name}
        lines.append([f"`{name}`", *(_beside_paper(cells[dataset]) for dataset in datasets)])
    return f"{markdown_table(['', *datasets], lines)}\n\n{_agreement(rows)} {below(rows)}"


def _agreement(rows: Sequence[CsvRow]) -> str:
    cells = [row for row in rows if row["network"] == "paper" and row["last"] is not None]
    apart = [row for row in cells if not row["within"]]
    return (
        f"Of {len(cells)} cells with the paper's network {len(cells) - len(apart)} are within one "
        f"standard deviation of the paper under some rule; "
        f"{sum(not row['above'] for row in apart)} are below and "
        f"{sum(not row['below'] for row in apart)} above it under every rule."
    )


def _beside_paper(cell: CsvRow) -> str:
    if cell["last"] is None:
        return NOT_RUN
    ours = [
        f"**{cell[rule]:.1f}**" if rule in cell["within"].split() else f"{cell[rule]:.1f}"
        for rule in ("last", "fold-best")
    ]
    return " / ".join([f"{cell['paper']:.1f}", *ours])


def cost(rows: Sequence[CsvRow]) -> str:
    """Return one line for each row that was run: parameters, seconds and megabytes."""
    if not rows:
        return f"Everything is {NOT_RUN}."
    datasets, lines = names(rows, "dataset"), []
    for name in names(rows, "row"):
        cells = {row["dataset"]: row for row in rows if row["row"] == name}
        first = cells.get(datasets[0])
        parameters = NOT_RUN if first is None else f"{first['parameters']:,.0f}"
        lines.append([f"`{name}`", parameters, *(_cost(cells.get(d)) for d in datasets)])
    return markdown_table(["", f"parameters, {datasets[0]}", *datasets], lines)


def _cost(cell: CsvRow | None) -> str:
    if cell is None:
        return NOT_RUN
    memory = "-" if cell["megabytes"] is None else f"{cell['megabytes']:.0f} MB"
    return f"{cell['seconds']:.3g} s, {memory}"


def names(rows: Iterable[CsvRow], column: str) -> list[str]:
    """Return what is in a column, each once, without the mean over datasets."""
    return [name for name in dict.fromkeys(row[column] for row in rows) if name != ALL]


def begun(rows: Sequence[CsvRow], column: str = "row") -> list[str]:
    """Return the rows, or the datasets, of which at least one fold is complete."""
    return names([row for row in rows if row.get("completed")], column)


def below(rows: Sequence[CsvRow]) -> str:
    """Return the line below a table: epochs, folds, and the rows and datasets not shown."""
    cells = {row["dataset"]: row for row in reversed(rows) if row["dataset"] != ALL}
    epochs = ", ".join(f"{name} {cells[name]['epochs']}" for name in names(rows, "dataset"))
    folds = [cells[name]["folds"] for name in cells]
    usual = max(folds, key=folds.count)
    fewer = [f"{name} {cell['folds']}" for name, cell in cells.items() if cell["folds"] != usual]
    text = f"Epochs: {epochs}. Folds: {usual}{''.join(f' ({one})' for one in fewer)}."
    idle = [f"`{name}`" for name in names(rows, "row") if name not in begun(rows)]
    idle += [name for name in names(rows, "dataset") if name not in begun(rows, "dataset")]
    return f"{text} Not run yet: {', '.join(idle)}." if idle else text
