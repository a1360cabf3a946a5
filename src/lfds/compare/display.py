"""The result of a comparison as text and as JSON; every number under the name of its rule."""

from dataclasses import asdict
from itertools import combinations
from math import isfinite
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from lfds.compare.runner import Result
from lfds.config.messages import as_message, printable
from lfds.results.ranks import Ranking, rank
from lfds.results.record import IncompleteRunError, rule_in_words
from lfds.results.rules import Scores, scores_by
from lfds.results.statistics import Comparison, compare
from lfds.results.table import Table


def print_result(result: Result) -> None:
    """Print the table of each rule, mean ranks over several datasets, and failed folds."""
    console = Console(soft_wrap=True, highlight=False)
    for table in result.tables:
        words = rule_in_words(table.rule, {result.spec.keep})
        console.print(f"accuracy in %, mean ± std over folds; rule {table.rule}: {words}")
        console.print(_grid(table))
        ranking = ranking_of(table)
        if ranking is not None:
            ranks = ", ".join(f"{pool} {place:.2f}" for pool, place in ranking.ranks.items())
            console.print(
                f"mean ranks ({table.rule}): {ranks}; "
                f"critical difference {ranking.critical_difference:.2f}"
            )
        console.print()
    for record in result.failed:
        assert record.failure is not None
        which = record.fold
        console.print(
            f"failed: {which.pool} on {printable(which.dataset)}, "
            f"seed {which.seed}, fold {which.fold}: "
            f"{as_message(record.failure.reason)}",
            markup=False,
        )


def as_dict(result: Result) -> dict[str, Any]:
    """Return everything that is printed, and the paired comparisons, for JSON."""
    return {
        "spec": result.spec.model_dump(mode="json"),
        "rules": {table.rule: _table(result, table) for table in result.tables},
        "failed": [
            {**record.fold.model_dump(), "key": record.key, **record.failure.model_dump()}
            for record in result.failed
            if record.failure is not None
        ],
    }


def ranking_of(table: Table) -> Ranking | None:
    """Return ranks over datasets; None for fewer than two, or where folds are missing."""
    try:
        return rank(table.means(), table.rule)
    except IncompleteRunError:
        return None


def comparisons(result: Result, table: Table) -> list[dict[str, Any]]:
    """Compare every two poolings on every dataset, by the rule of the table."""
    scores = _complete_scores(result, table)
    return [
        {"dataset": dataset, "first": first, "second": second}
        | _for_json(compare(scores[first, dataset], scores[second, dataset], table.rule))
        for dataset in table.datasets
        for first, second in combinations(table.pools, 2)
        if (first, dataset) in scores and (second, dataset) in scores
    ]


def _complete_scores(result: Result, table: Table) -> dict[tuple[str, str], Scores]:
    """Return the accuracies of every pooling on every dataset where no fold is missing."""
    spec = result.spec
    found = {}
    for names, cell in table.cells.items():
        if cell.summary is not None:
            records = [r for r in result.records if (r.fold.pool, r.fold.dataset) == names]
            found[names] = scores_by(table.rule, records, folds=spec.folds, seeds=spec.all_seeds)
    return found


def _grid(table: Table) -> Grid:
    grid = Grid(box=None, pad_edge=False)
    grid.add_column("", no_wrap=True)
    for dataset in table.datasets:
        grid.add_column(escape(printable(dataset)), no_wrap=True, justify="right")
    for pool in table.pools:
        grid.add_row(pool, *(str(table.cells[pool, dataset]) for dataset in table.datasets))
    return grid


def _table(result: Result, table: Table) -> dict[str, Any]:
    ranking = ranking_of(table)
    return {
        "cells": [
            {"pool": pool, "dataset": dataset, **asdict(cell)}
            for (pool, dataset), cell in table.cells.items()
        ],
        "comparisons": comparisons(result, table),
        "ranks": None if ranking is None else asdict(ranking),
    }


def _for_json(outcome: Comparison) -> dict[str, Any]:
    """Return a comparison without infinity, which JSON does not have."""
    return asdict(outcome) | {"t": outcome.t if isfinite(outcome.t) else None}
