"""The command ``lfds evaluate``."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from lfds.cli.data import Root, SkipBad, SmilesColumn, Target
from lfds.cli.model_data import notes_on_targets, open_for_model
from lfds.cli.options import Data, Model, print_warnings
from lfds.config.messages import as_message, printable

if TYPE_CHECKING:
    from lfds.estimator.metrics import Metrics, SeveralMetrics

# So that a row for each target fits into a line.
_ONLY_IN_JSON = ("f1", "calibration_error")


def evaluate(
    model: Model,
    data: Data,
    root: Root = Path("data"),
    target: Target = None,
    smiles_column: SmilesColumn = None,
    skip_bad: SkipBad = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the metrics as JSON.")] = False,
) -> None:
    """Evaluate a model on labelled graphs that it was not fitted on.

    The target columns are those that it was fitted on, unless --target names others: some of
    several, in any order, or as many with other names, in the order of those of the model.
    """
    from lfds.estimator.metrics import evaluate as metrics_of
    from lfds.estimator.persistence import load
    from lfds.estimator.targets import check_has_targets

    with print_warnings():
        estimator = load(model)
        decoder = estimator.decoder_
        graphs = open_for_model(
            estimator, data, root, target=target, smiles=smiles_column, skip_bad=skip_bad
        )
        check_has_targets(graphs, data, "lfds evaluate needs labelled graphs")
        metrics = metrics_of(estimator, graphs, data)
    for line in notes_on_targets(estimator, graphs, metrics, data, chosen=bool(target)):
        typer.echo(f"lfds: {as_message(line)}", err=True)
    classes = [] if decoder.task == "regression" else list(decoder.names)
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
    from lfds.estimator.metrics import ClassMetrics, SeveralMetrics

    console = Console(markup=False, emoji=False, highlight=False)
    if isinstance(metrics, SeveralMetrics):
        _print_several(metrics, console)
        return
    single = {name: value for name, value in asdict(metrics).items() if type(value) is not tuple}
    rows = ([name.replace("_", " "), _text(value)] for name, value in single.items())
    console.print(_table((), rows))
    if isinstance(metrics, ClassMetrics):
        names = [printable(str(name)) for name in classes]
        console.print("\nconfusion (rows: true class, columns: predicted class)")
        counts = zip(names, metrics.confusion, strict=True)
        console.print(_table(("", *names), ([name, *map(str, row)] for name, row in counts)))
        console.print("\ncalibration (mean probability of the predicted class, accuracy)")
        bins = (
            [str(one.count), f"{100 * one.confidence:.1f} %", f"{100 * one.accuracy:.1f} %"]
            for one in metrics.bins
        )
        console.print(_table(("graphs", "confidence", "accuracy"), bins))


def _print_several(metrics: "SeveralMetrics", console: Console) -> None:
    """Print a row for each target, and their mean."""
    names = [name for name in metrics.mean if name not in _ONLY_IN_JSON]
    rows = [
        [target, str(found.graphs), *(_short(getattr(found, name)) for name in names)]
        for target, found in metrics.targets.items()
    ]
    mean = ["mean", str(metrics.graphs), *(_short(metrics.mean[name]) for name in names)]
    header = ("target", "graphs", *(name.replace("_", " ") for name in names))
    console.print(_table(header, [*rows, mean]))


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(*header, box=None, pad_edge=False, show_header=bool(header))
    for row in rows:
        table.add_row(*row)
    return table


def _text(value: Any) -> str:
    if value is None:
        return "undefined: too few graphs, or a class without any"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
