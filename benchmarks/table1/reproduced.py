"""Cell by cell: what was found by the paper's protocol, beside what the paper says."""

from collections import Counter
from collections.abc import Mapping, Sequence

from benchmarks.table1.rows import (
    DATASETS,
    REMARKS,
    as_table,
    cell_or_not_run,
    columns_of,
    row_names,
    settings_said,
    theirs,
)
from benchmarks.table1.verdict import verdict
from lfds.report.ranking import Entry
from lfds.report.report import Report
from lfds.results.record import PROTOCOLS, Rule

RULES = PROTOCOLS["paper"]
_HEAD = ("pooling", "paper", *RULES, "reproduced?")


def reproduced(made: Report, notes: Mapping[str, str]) -> str:
    """Return the part about the paper's protocol, a table and a note for each dataset."""
    parts = []
    for column, some in columns_of(made, "paper").items():
        dataset = some[0].dataset if some else column
        remark = REMARKS.get(DATASETS.get(dataset, ""), "")
        lines = [line(made, row, column, dataset) for row in row_names(some)]
        above = "\n".join(filter(None, [settings_said(some), remark]))
        parts.append(f"### {column}\n\n{above}\n\n{as_table(_HEAD, lines, words=1)}")
        if column in notes:
            parts.append(notes[column])
    return "\n\n".join(parts)


def line(made: Report, row: str, column: str, dataset: str) -> list[str]:
    """Return one row of a table: the paper's, ours by every rule, and the verdict."""
    entries = entries_of(made, row, column)
    pool = entries["last"].series.pool if entries else row
    there = theirs(pool, dataset)
    means = means_of(entries)
    said = verdict(means, there) if there and len(means) == len(RULES) else "-"
    cells = [cell_or_not_run(entries.get(rule)) for rule in RULES]
    return [f"`{row}`", str(there or "-"), *cells, said]


def entries_of(made: Report, row: str, column: str) -> dict[Rule, Entry]:
    """Return the entry of a row on a column by every rule; nothing where there is none."""
    if not set(RULES) <= set(made.rules):
        return {}
    found = {rule: made.by(rule).entries.get((row, column)) for rule in RULES}
    return {rule: entry for rule, entry in found.items() if entry is not None}


def means_of(entries: Mapping[Rule, Entry]) -> dict[Rule, float]:
    """Return the means in percent, by the rules that have one."""
    return {r: 100 * e.summary.mean for r, e in entries.items() if e.summary is not None}


def cell_by(rules: Sequence[Rule], made: Report, row: str, column: str) -> str:
    """Return the means of a cell by some rules side by side, or how much of it was run."""
    entries = entries_of(made, row, column)
    means = means_of(entries)
    if means:
        return " / ".join(f"{means[rule]:.1f}" for rule in rules)
    return cell_or_not_run(entries.get("last"))


def count_of_verdicts(made: Report) -> str:
    """Return how many cells are reproduced under which rule, how many are not, or not yet run."""
    counts: Counter[str] = Counter()
    for column, some in columns_of(made, "paper").items():
        dataset = some[0].dataset if some else column
        for row in row_names(some):
            counts.update(_kinds(made, row, column, dataset))
    rules = ", ".join(f"{counts[rule]} under {rule}" for rule in RULES)
    return (
        f"Of {counts['cells']} cells beside one of the paper's, {counts['run']} are run in full: "
        f"{counts['within']} of them are within one standard deviation of the paper's under some "
        f"rule ({rules}), {counts['below under every rule']} are below it and "
        f"{counts['above under every rule']} above it under every rule."
    )


def _kinds(made: Report, row: str, column: str, dataset: str) -> Sequence[str]:
    entries = entries_of(made, row, column)
    there = theirs(entries["last"].series.pool if entries else row, dataset)
    if there is None:
        return ()
    means = means_of(entries)
    if len(means) < len(RULES):
        return ("cells",)
    said = verdict(means, there)
    _, within, rules = said.partition("within one standard deviation under ")
    return ("cells", "run", "within", *rules.split(", ")) if within else ("cells", "run", said)
