"""Turn cells into the rows of the CSV files; accuracies are in percent."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any, Literal

from benchmarks.tables.cells import (
    Cell,
    Cells,
    corrected,
    gain_over,
    gains_on,
    mean_gains,
    sign_flips,
)
from benchmarks.tables.manifest import Planned, Table
from lfds.report.paper import Published, published
from lfds.results.record import PROTOCOLS, Record
from lfds.results.statistics import summarise

CsvRow = dict[str, Any]
ALL = "all"
"""Stands for the dataset in rows about the mean gain over datasets."""
# Binary fractions must not decide at the edges of the paper's accuracies, which have one digit, nor
# who is ahead where two are equal.
_ROUNDING = 1e-9


def comparison_rows(table: Table, cells: Cells) -> Iterator[CsvRow]:
    """Yield accuracy and gain over the baseline of every cell, and the mean gain of every row."""
    gains = {dataset: gains_on(dataset, table, cells) for dataset in table.datasets}
    for cell in cells.values():
        row = {
            **_place(cell),
            **_progress(cell),
            "seeds": len(cell.seeds),
            **_accuracy(cell, "test", "accuracy", "std"),
            **_accuracy(cell, "validation", "validation", "validation_std"),
            **dict.fromkeys(("baseline", "gain", "p", "p_holm")),
        }
        if (gain := gains[cell.dataset].get(cell.row.name)) is not None:
            row["baseline"], row["gain"] = cell.row.baseline, 100 * gain.outcome.difference
            row |= {"p": gain.outcome.p, "p_holm": gain.p}
        yield row
    compared = sum(bool(row.baseline) for row in table.rows)
    for name, mean in mean_gains(gains, compared).items():
        place = {"row": name, "dataset": ALL, "gain": 100 * mean.difference}
        yield place | {"p": mean.p, "p_holm": mean.p_holm, "datasets": mean.datasets}


def planned_rows(table: Table, cells: Cells) -> Iterator[CsvRow]:
    """Yield the gains that a table is about, corrected for the comparisons of a plan.

    Over datasets, ``ahead`` and ``behind`` count datasets; on one dataset they count folds.
    """
    for plan in table.planned:
        found = list(_on_each(plan, cells) if plan.each else _over_datasets(plan, table, cells))
        after = corrected([row["p"] for row in found], len(plan.baselines) * max(1, len(plan.each)))
        for row, p_holm in zip(found, after, strict=True):
            yield row | {"p_holm": p_holm}


def _over_datasets(plan: Planned, table: Table, cells: Cells) -> Iterator[CsvRow]:
    datasets = [name for name in table.datasets if name not in plan.without]
    for other in plan.baselines:
        pairs = (gain_over(cells[plan.row, d], cells[other, d]) for d in datasets)
        if gains := [pair.difference for pair in pairs if pair is not None]:
            place = {"row": plan.row, "baseline": other, "dataset": ALL}
            place |= {"without": " ".join(plan.without), "datasets": len(gains), "seeds": None}
            yield place | _ahead_and_behind(gains) | {"p": sign_flips(gains)}


def _on_each(plan: Planned, cells: Cells) -> Iterator[CsvRow]:
    for other in plan.baselines:
        for dataset in plan.each:
            mine, theirs = cells[plan.row, dataset], cells[other, dataset]
            gain = gain_over(mine, theirs)
            if gain is not None:
                seeds = [seed for seed in mine.seeds if seed in theirs.seeds]
                gains = (mine.scores(seeds=seeds) - theirs.scores(seeds=seeds)).ravel().tolist()
                place = {"row": plan.row, "baseline": other, "dataset": dataset}
                place |= {"without": "", "datasets": 1, "seeds": len(seeds)}
                yield place | _ahead_and_behind(gains) | {"p": gain.p}


def _ahead_and_behind(gains: Sequence[float]) -> CsvRow:
    return {
        "ahead": sum(gain > _ROUNDING for gain in gains),
        "behind": sum(gain < -_ROUNDING for gain in gains),
        "gain": 100 * fmean(gains),
    }


def reproduction_rows(cells: Cells) -> Iterator[CsvRow]:
    """Yield the paper's accuracy beside ours by each rule, and the rules that agree with it."""
    for cell in cells.values():
        theirs = published_beside(cell)
        row = {**_place(cell), **_progress(cell), "network": cell.spec.network}
        row |= {"paper": theirs.mean, "paper_std": theirs.std} if theirs else {}
        sides: dict[str, list[str]] = {"within": [], "below": [], "above": []}
        for rule in PROTOCOLS["paper"]:
            row |= _accuracy(cell, rule, rule, f"{rule}_std")
            if theirs is not None and row[rule] is not None:
                sides[side_of(row[rule], theirs)].append(rule)
        yield row | {side: " ".join(rules) for side, rules in sides.items()}


def published_beside(cell: Cell) -> Published | None:
    """Return the paper's accuracy that a cell is compared with."""
    # The paper's PC Graphs are neither ours nor the real clouds; both are shown beside them.
    return published(cell.row.pool, "pc-graphs" if cell.dataset == "clouds" else cell.dataset)


def side_of(ours: float, theirs: Published) -> Literal["within", "above", "below"]:
    """Return whether a mean in percent is within the paper's mean ± its standard deviation.

    >>> side_of(78.1, Published(74.3, 3.8)), side_of(78.2, Published(74.3, 3.8))
    ('within', 'above')
    """
    ahead = ours - theirs.mean
    if abs(ahead) <= theirs.std + _ROUNDING:
        return "within"
    return "above" if ahead > 0 else "below"


def cost_rows(tables: Mapping[str, Cells], records: Sequence[Record]) -> Iterator[CsvRow]:
    """Yield medians over the folds of the last seed: seconds, megabytes and parameters.

    Seeds are often run one after the other, on machines of different speeds; the last ones of all
    rows were more likely run together.
    The first fold of a dataset also loads code and data that later ones find in memory, so that its
    memory is left out. Rows that train a pooling once more in another way are left out as well,
    but for ensembles.
    """
    first: dict[tuple[str, str], str] = {}
    for record in records:
        first.setdefault((record.fold.protocol, record.fold.dataset), record.key)
    for name, cells in tables.items():
        for cell in cells.values():
            seen = [
                (record.key, record.outcome)
                for record in cell.records
                if record.fold.seed == cell.last_seed and record.outcome is not None
            ]
            usual = cell.row.name == cell.row.pool or cell.spec.members > 1
            if usual and seen:
                later = [outcome for key, outcome in seen if key not in first.values()]
                peaks = [o.peak_memory for o in later if o.peak_memory is not None]
                yield {"table": name, **_place(cell)} | {
                    "seconds": median(outcome.seconds for _, outcome in seen),
                    "megabytes": median(peaks) / 1e6 if peaks else None,
                    "parameters": median(outcome.parameters for _, outcome in seen),
                }


def _place(cell: Cell) -> CsvRow:
    return {
        "row": cell.row.name,
        "dataset": cell.dataset,
        "epochs": cell.spec.epochs,
        "folds": cell.spec.folds,
    }


def _progress(cell: Cell) -> CsvRow:
    return {"completed": len(cell.records), "requested": cell.spec.folds * cell.spec.seeds}


def _accuracy(cell: Cell, measure: str, mean: str, std: str) -> CsvRow:
    if not cell.seeds:
        return {mean: None, std: None}
    summary = summarise(cell.scores(measure), "fair")
    return {mean: 100 * summary.mean, std: 100 * summary.std}
