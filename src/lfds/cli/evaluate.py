"""The command ``lfds evaluate``."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from lfds.cli.arguments import Data, Model, Root, SkipBad, Target, print_warnings, read_graphs

if TYPE_CHECKING:
    from lfds.estimator.metrics import Metrics


def evaluate(
    model: Model,
    data: Data,
    root: Root = Path("data"),
    target: Target = None,
    skip_bad: SkipBad = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the metrics as JSON.")] = False,
) -> None:
    """Evaluate a model on labelled graphs that it was not fitted on."""
    from lfds.estimator.metrics import evaluate as metrics_of
    from lfds.estimator.persistence import load
    from lfds.estimator.targets import check_has_targets

    with print_warnings():
        estimator = load(model)
        graphs = read_graphs(data, root, target, skip_bad)
        check_has_targets(graphs, data, "lfds evaluate needs labelled graphs")
        metrics = metrics_of(estimator, graphs, data)
    decoder = estimator.decoder_
    classes = list(decoder.names) if decoder.kind == "classes" else []
    if as_json:
        named = {"classes": classes} if classes else {}
        typer.echo(json.dumps({**named, **asdict(metrics)}, indent=2, allow_nan=False))
    else:
        print_metrics(metrics, classes)


def print_metrics(metrics: "Metrics", classes: Sequence[Any]) -> None:
    """Print metrics as tables.

    Args:
        metrics: What to print.
        classes: Names of the classes; empty for regression.
    """
    from lfds.estimator.metrics import ClassMetrics

    console = Console(markup=False, emoji=False, highlight=False)
    single = {name: value for name, value in asdict(metrics).items() if type(value) is not tuple}
    rows = ([name.replace("_", " "), _text(value)] for name, value in single.items())
    console.print(_table((), rows))
    if isinstance(metrics, ClassMetrics):
        names = [str(name) for name in classes]
        console.print("\nconfusion (rows: true class, columns: predicted class)")
        counts = zip(names, metrics.confusion, strict=True)
        console.print(_table(("", *names), ([name, *map(str, row)] for name, row in counts)))
        console.print("\ncalibration (mean probability of the predicted class, accuracy)")
        bins = (
            [str(one.count), f"{100 * one.confidence:.1f} %", f"{100 * one.accuracy:.1f} %"]
            for one in metrics.bins
        )
        console.print(_table(("graphs", "confidence", "accuracy"), bins))


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(*header, box=None, pad_edge=False, show_header=bool(header))
    for row in rows:
        table.add_row(*row)
    return table


def _text(value: Any) -> str:
    if value is None:
        return "undefined: too few graphs, or a class without any"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
