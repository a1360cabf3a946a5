"""The commands ``lfds fit``, ``predict``, ``evaluate`` and ``export``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfds.cli.data import SOURCE_HELP
from lfds.cli.options import network_options

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet
    from lfds.data.readers.smiles import Bad
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.regressor import LFDSRegressor

Data = Annotated[str, typer.Argument(help=SOURCE_HELP)]
Model = Annotated[Path, typer.Argument(help="Folder of a model.")]
Root = Annotated[Path, typer.Option(help="Folder in which datasets are kept.")]
Target = Annotated[str | None, typer.Option(help="Column to predict, of a .csv file.")]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out lines of a .csv with bad SMILES.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def fit(
    data: Data,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of the model to be written.")],
    root: Root = Path("data"),
    target: Target = None,
    skip_bad: SkipBad = False,
    structure: Annotated[
        list[str] | None, typer.Option(help="Latent structures, one or several.")
    ] = None,
    slots: Annotated[int | None, typer.Option(help="Slots of each structure.")] = None,
    reduction: Annotated[str | None, typer.Option(help="sum, mean or mass.")] = None,
    encoding: Annotated[
        list[str] | None, typer.Option(help="auto, none, or structural encodings.")
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the graphs, at most.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Graphs of a batch.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Of the first epoch.")] = None,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Let all classes count the same.")
    ] = False,
    validation: Annotated[
        float | None, typer.Option(help="Share of the graphs that chooses the epoch.")
    ] = None,
    patience: Annotated[
        int | None, typer.Option(help="Epochs without a gain after which to stop.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="Settings of the network, as width=32.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Root of all that is random.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes for encodings.")] = None,
) -> None:
    """Learn from labelled graphs, and save the model."""
    given = {
        "structure": structure,
        "slots": slots,
        "reduction": reduction,
        "encoding": encoding,
        "epochs": epochs,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "class_weight": "balanced" if balanced else None,
        "validation": validation,
        "patience": patience,
        "options": None if option is None else network_options(option),
        "seed": seed,
        "workers": workers,
    }
    chosen = {name: _alone(value) for name, value in given.items() if value is not None}
    _fit(data, out, root, target, skip_bad, chosen)


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="CSV file; standard output without it.")
    ] = None,
    root: Root = Path("data"),
    skip_bad: SkipBad = False,
) -> None:
    """Tell class and probabilities, or amounts, of every graph as CSV."""
    from lfds.data.sources import places_of
    from lfds.data.streams import stream_source
    from lfds.estimator.console import warnings_told
    from lfds.estimator.loading import load
    from lfds.estimator.outputs import check_output
    from lfds.estimator.predictions_csv import write_predictions

    if out is not None:
        check_output(out, model, places_of(data, root))
    with warnings_told():
        estimator = load(model)
        count = write_predictions(estimator, stream_source(data, root, bad=_bad(skip_bad)), out)
    if out is not None:
        typer.echo(f"predictions for {count:,} graphs in {out}", err=True)


def evaluate(
    model: Model,
    data: Data,
    root: Root = Path("data"),
    target: Target = None,
    skip_bad: SkipBad = False,
    as_json: Json = False,
) -> None:
    """Judge a model on labelled graphs that it has not seen."""
    from lfds.estimator.console import print_metrics, warnings_told
    from lfds.estimator.evaluation import evaluated

    with warnings_told():
        estimator = _loaded(model)
        graphs = _graphs(data, root, target, skip_bad)
        metrics = evaluated(estimator, graphs)
    print_metrics(metrics, getattr(estimator, "classes_", ()), as_json=as_json)


def export(
    model: Model,
    onnx: Annotated[Path, typer.Option(help="The ONNX file to be written.")],
    check: Annotated[
        str | None, typer.Option(help="Run the file on the graphs of this source, and compare.")
    ] = None,
    root: Root = Path("data"),
    skip_bad: SkipBad = False,
) -> None:
    """Write a model as an ONNX file that runs without lfds."""
    from lfds.data.sources import places_of
    from lfds.data.streams import stream_source
    from lfds.estimator.console import warnings_told
    from lfds.estimator.onnx_file import check_onnx, export_onnx
    from lfds.estimator.outputs import check_output

    check_output(onnx, model, () if check is None else places_of(check, root))
    with warnings_told():
        estimator = _loaded(model)
        # As predict reads them, without targets; and before anything is written.
        pieces = [] if check is None else list(stream_source(check, root, bad=_bad(skip_bad)))
        export_onnx(estimator, onnx)
        typer.echo(f"saved as {onnx}")
        if check is not None:
            gaps = [check_onnx(estimator, onnx, piece.graphs) for piece in pieces]
            count = sum(len(piece.graphs) for piece in pieces)
            typer.echo(
                f"onnxruntime differs by {max(gaps, default=0):.1e} at most on {count:,} graphs "
                f"of {check}"
            )


def _fit(
    data: str, out: Path, root: Path, target: str | None, skip_bad: bool, chosen: dict[str, Any]
) -> None:
    # torch and scikit-learn take seconds to import; a misspelt option does not wait for them.
    from lfds.data.errors import DataError
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.console import print_fit, shows_bars, warnings_told
    from lfds.estimator.model_folder import check_replaceable
    from lfds.estimator.regressor import LFDSRegressor
    from lfds.estimator.targets import need_targets

    check_replaceable(out)  # now, and not after an hour of training
    graphs = _graphs(data, root, target, skip_bad)
    need_targets(graphs)
    estimator: LFDSClassifier | LFDSRegressor
    if graphs.classes:
        estimator = LFDSClassifier(progress=shows_bars()).set_params(**chosen)
    elif "class_weight" in chosen:
        raise DataError("only classes are balanced, and the targets are amounts", source=data)
    else:
        estimator = LFDSRegressor(progress=shows_bars()).set_params(**chosen)
    try:
        with warnings_told():
            estimator.fit(graphs)
    except KeyboardInterrupt:
        typer.echo("lfds: stopped; nothing was written", err=True)
        raise typer.Exit(130) from None
    estimator.set_params(progress=False).save(out)
    print_fit(estimator, graphs, out)


def _loaded(model: Path) -> "LFDSClassifier | LFDSRegressor":
    from lfds.estimator.loading import load

    return load(model)


def _graphs(data: str, root: Path, target: str | None, skip_bad: bool) -> "GraphSet":
    from lfds.data.sources import open_source

    return open_source(data, root, target=target, bad=_bad(skip_bad))


def _bad(skip: bool) -> "Bad":
    return "skip" if skip else "stop"


def _alone(value: Any) -> Any:
    """Return one value of an option that takes several as itself."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value
