"""What the commands of estimators print: a fit in a few lines, metrics as tables, warnings once."""

import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

import typer
from rich.console import Console
from rich.table import Table

from lfds.data.graphset import GraphSet
from lfds.estimator.classifier import LFDSClassifier
from lfds.estimator.metrics import AmountMetrics, ClassMetrics
from lfds.estimator.regressor import LFDSRegressor


def shows_bars() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr.isatty()


@contextmanager
def warnings_told() -> Iterator[None]:
    """Print every kind of warning as one line on standard error, the first time it comes."""
    told: set[type[Warning]] = set()

    def tell(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if category not in told:
            told.add(category)
            typer.echo(f"lfds: warning: {' '.join(str(message).split())}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = tell
        yield


def print_fit(estimator: LFDSClassifier | LFDSRegressor, graphs: GraphSet, out: Path) -> None:
    """Say how a fit went, and where it is."""
    seen = estimator.history_
    best = f"epoch {seen.best + 1} of {seen.epochs}"
    if isinstance(estimator, LFDSClassifier):
        names = ", ".join(str(name) for name in estimator.classes_.tolist())
        what = f"of {estimator.meaning_.outputs} classes: {names}"
        how = f"{100 * seen.validation[seen.best]:.1f} % right"
    else:
        what = f"with {estimator.meaning_.outputs} target(s)"
        # Targets have variance one over the graphs that were fitted on.
        how = f"{-100 * seen.validation[seen.best]:.1f} % of the variance left"
    typer.echo(f"fitted on {len(graphs):,} graphs {what}")
    if seen.has_validation:
        typer.echo(f"best was {best}, with {how} in validation")
    else:
        typer.echo(
            f"kept epoch {seen.best + 1} of {seen.epochs}, with {how} on the graphs it was fitted "
            f"on; none were set apart"
        )
    typer.echo(f"saved as {out}")


def print_metrics(
    metrics: ClassMetrics | AmountMetrics, classes: Sequence[Any], *, as_json: bool
) -> None:
    """Print metrics for people, or for programs."""
    if as_json:
        named = {"classes": [_plain(name) for name in classes]} if len(classes) else {}
        typer.echo(json.dumps({**named, **asdict(metrics)}, indent=2, allow_nan=False))
        return
    console = Console(markup=False, emoji=False, highlight=False)
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, value in asdict(metrics).items():
        if not isinstance(value, tuple):
            table.add_row(name.replace("_", " "), _shown(value))
    console.print(table)
    if isinstance(metrics, ClassMetrics):
        names = [str(name) for name in classes]
        console.print("\nconfusion (rows are true, columns predicted)")
        console.print(_confusion(metrics, names))
        console.print("\ncalibration (how sure, and how often right)")
        console.print(_bins(metrics))


def _confusion(metrics: ClassMetrics, names: Sequence[str]) -> Table:
    table = Table("", *names, box=None, pad_edge=False)
    for name, row in zip(names, metrics.confusion, strict=True):
        table.add_row(name, *map(str, row))
    return table


def _bins(metrics: ClassMetrics) -> Table:
    table = Table("graphs", "sure", "right", box=None, pad_edge=False)
    for one in metrics.bins:
        sure, right = f"{100 * one.confidence:.1f} %", f"{100 * one.accuracy:.1f} %"
        table.add_row(str(one.count), sure, right)
    return table


def _shown(value: Any) -> str:
    if value is None:
        return "none: too few graphs, or a class without any"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _plain(name: Any) -> Any:
    return name.item() if hasattr(name, "item") else name
