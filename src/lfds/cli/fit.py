"""The command ``lfds fit``; its options are those of the estimators."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfds.cli.data import LargestFragment, Root, SkipBad, SmilesColumn, Target
from lfds.cli.fit_parts import AskedParts, Source, left_out, parts_of, read_graphs
from lfds.cli.options import (
    Data,
    flag_of,
    network_options,
    options_from,
    print_warnings,
    with_flags,
)
from lfds.config.encoding import NAMES
from lfds.config.messages import SpecError, counted, first_of, printable
from lfds.config.network import NetworkSettings
from lfds.config.registry import STRUCTURES
from lfds.data.errors import DataError
from lfds.estimator.options import OWN_SETTINGS, Options

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.regressor import LFDSRegressor

# Options that are not on the command line, or in another form.
_LEAVE_OUT = (
    "node_attributes", "node_label", "edge_attributes", "edge_label", "warm_start", "progress",
    "verbose",
)  # fmt: skip
_OTHERS = ("structure", "encoding", "options", "class_weight")
# Below this many graphs the values of one fit depend on its seed more than on its settings.
_FEW_GRAPHS = 1000
# Names that are shown in one line.
_LONGEST_NAMES = 60
_SETTINGS = [name for name in NetworkSettings.model_fields if name not in OWN_SETTINGS]
FLAGS = {
    **{name: f"--option {name}" for name in _SETTINGS},
    **{name: flag_of(name) for name in Options.model_fields},
    "options": "--option",
    "class_weight": "--balanced",
}


@options_from(Options, leave_out=(*_LEAVE_OUT, *_OTHERS))
def fit(
    data: Data,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of the model to write.")],
    root: Root = Path("data"),
    target: Target = None,
    task: Annotated[
        str, typer.Option(help="What the targets are.", metavar="auto|classification|regression")
    ] = "auto",
    skip_bad: SkipBad = False,
    smiles_column: SmilesColumn = None,
    largest_fragment: LargestFragment = False,
    atom_features: Annotated[
        str | None, typer.Option(help="Features of atoms and bonds.", metavar="full|basic")
    ] = None,
    splits: Annotated[
        str | None,
        typer.Option(
            help="Fit on 80 %, validate and test on 10 % each: random, scaffold, or a JSON file."
        ),
    ] = None,
    test_size: Annotated[
        float | None,
        typer.Option(help="Fraction of the graphs to hold out and to test on after the fit."),
    ] = None,
    baseline: Annotated[
        bool,
        typer.Option(
            "--baseline",
            help="Compare with a random forest on histograms: is a network worth it?",
        ),
    ] = False,
    group_column: Annotated[
        str | None, typer.Option(help="Rows with the same cell here stay in the same part.")
    ] = None,
    structure: Annotated[
        list[str] | None, typer.Option(help=f"Latent structures: {', '.join(STRUCTURES)}.")
    ] = None,
    encoding: Annotated[
        list[str] | None, typer.Option(help=f"Node features: auto, {', '.join(NAMES)}.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help=f"Other settings of the network, as width=32: {', '.join(_SETTINGS)}."),
    ] = None,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Give all classes the same total weight.")
    ] = False,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            help="Folder for checkpoints, from which the same command resumes; by default "
            "OUT.unfinished if there are several workers. The nodes of a cluster share it."
        ),
    ] = None,
    **given: Any,
) -> None:
    """Fit a classifier or regressor on labelled graphs and save it."""
    for name, names in (("structure", structure), ("encoding", encoding)):
        if names is not None:
            given[name] = names[0] if len(names) == 1 else names
    if option is not None:
        given["options"] = network_options(option)
    if balanced:
        given["class_weight"] = "balanced"
    try:
        options = Options.of(given)
        options.network_settings()
        options.training_settings()
        reading: dict[str, Any] = {"task": task, "smiles": smiles_column, "group": group_column}
        if largest_fragment:
            reading["fragments"] = "largest"
        if atom_features is not None:
            reading["atom_features"] = atom_features
        asked = AskedParts(splits, test_size)
        asked.check(group_column)
        source = Source(data, root, target, skip_bad, reading)
        _fit(source, out, asked, baseline, checkpoints, given)
    except SpecError as error:
        raise SpecError(with_flags(str(error), FLAGS)) from error


def _fit(
    source: Source,
    out: Path,
    asked: AskedParts,
    baseline: bool,
    checkpoints: Path | None,
    options: Mapping[str, Any],
) -> None:
    # torch and scikit-learn take seconds to import; a misspelt option does not wait for them.
    from lfds.estimator.persistence import check_replaceable

    check_replaceable(out)  # before training, which may take an hour
    with print_warnings():
        chunk = read_graphs(source, asked)
    graphs = chunk.graphs
    estimator = _estimator_for(graphs, source.data, balanced="class_weight" in options)
    _check_loss(estimator, options)
    estimator.set_params(**options, progress=sys.stderr.isatty())
    parts = parts_of(chunk, asked, source.data, estimator.seed, estimator.validation)
    fitted_on, held_out = graphs, None
    if asked.any:
        rows = sorted(parts.split.train + parts.split.validation)
        fitted_on, held_out = graphs[rows], [rows.index(row) for row in parts.split.validation]
    estimator.check_options()
    typer.echo(printable(decision(graphs, str(source.reading["task"]))))
    if parts.skipped:
        typer.echo(printable(parts.skipped))
    _run(estimator, fitted_on, held_out, out, checkpoints)
    for line in summary(estimator, fitted_on):
        typer.echo(line)
    if asked.splits is not None and not held_out and len(estimator.validation_rows_):
        count, where = len(estimator.validation_rows_), printable(asked.splits)
        typer.echo(f"validation on {count:,} of these graphs, drawn at random: {where} leaves none")
    few = len(fitted_on) < _FEW_GRAPHS and len(estimator.networks_) == 1
    if few and estimator.decoder_.task == "regression":
        drawn = counted(len(fitted_on), "graph")
        typer.echo(f"one fit on {drawn} depends on its seed; use --members 5")
    with print_warnings():
        for line in _judged(estimator, fitted_on, graphs[parts.split.test], baseline=baseline):
            typer.echo(line)
    typer.echo(f"saved as {printable(str(out))}{left_out(parts.split, len(graphs), asked)}")


def _run(
    estimator: "LFDSClassifier | LFDSRegressor",
    graphs: "GraphSet",
    held_out: list[int] | None,
    out: Path,
    checkpoints: Path | None,
) -> None:
    """Fit and save; an interrupted fit goes on from its checkpoints, if it has any."""
    from lfds.train.distributed import remove_fits

    folder = checkpoints
    if folder is None and (estimator.workers > 1 or estimator.ray is not None):
        folder = Path(f"{os.path.abspath(out)}.unfinished")
    try:
        with print_warnings():
            estimator.fit(graphs, held_out=held_out or None, checkpoints=folder)
    except KeyboardInterrupt:
        result = "nothing was written" if folder is None else "the same command resumes the fit"
        typer.echo(f"lfds: stopped; {result}", err=True)
        raise typer.Exit(130) from None
    # On which cluster it was fitted is not part of the model.
    estimator.set_params(progress=False, ray=None).save(out)
    if folder is not None and checkpoints is None:
        remove_fits(folder)  # also those of other options, which were given up


def decision(graphs: "GraphSet", task: str) -> str:
    """Return one line about what is fitted, and how to fit something else."""
    names = ", ".join(graphs.target_names)
    what = f" of {names}" if names and len(names) <= _LONGEST_NAMES else ""
    if not graphs.classes:
        fix = "; --task classification for classes" if task == "auto" else ""
        return f"task: regression{what}{fix}"
    shown = first_of(graphs.classes)
    numbers = all(not isinstance(name, str) for name in graphs.classes)
    fix = "; --task regression for numbers" if task == "auto" and numbers else ""
    return f"task: classification{what} ({len(graphs.classes)} classes: {shown}){fix}"


def _judged(
    estimator: "LFDSClassifier | LFDSRegressor",
    fitted_on: "GraphSet",
    test: "GraphSet",
    *,
    baseline: bool,
) -> Iterator[str]:
    """Yield what the test part says about the network, and a random forest beside it."""
    if len(test):
        yield _tested(estimator, test)
    if not baseline:
        return
    from lfds.estimator.reference import compare_with_forest

    if len(test):
        yield compare_with_forest(estimator, fitted_on, test).in_words("test")
        return
    rows = estimator.validation_rows_
    if len(rows) == 0:
        yield "baseline: needs graphs to compare on; use --test-size 0.2"
        return
    train = fitted_on[[row for row in range(len(fitted_on)) if row not in set(rows.tolist())]]
    line = compare_with_forest(estimator, train, fitted_on[rows]).in_words("validation")
    yield f"{line} (the network chose its epoch on them; --test-size 0.2 is fairer)"


def _tested(estimator: "LFDSClassifier | LFDSRegressor", test: "GraphSet") -> str:
    """Return one line about the test part."""
    from dataclasses import asdict

    from lfds.estimator.metrics import SeveralMetrics, evaluate

    metrics = evaluate(estimator, test)
    several = isinstance(metrics, SeveralMetrics)
    numbers = metrics.mean if isinstance(metrics, SeveralMetrics) else asdict(metrics)
    shown = ", ".join(
        f"{name.replace('_', ' ')} {value:.4f}"
        for name, value in numbers.items()
        if isinstance(value, float)
    )
    what = counted(len(test), "graph")
    return f"test on {what}: {shown}{' (means over targets)' if several else ''}"


def _check_loss(estimator: "LFDSClassifier | LFDSRegressor", options: Mapping[str, Any]) -> None:
    if "loss" in options and "loss" not in estimator.get_params():
        raise DataError(
            "is for regression, and the targets are classes; leave it out", source="--loss"
        )


def summary(estimator: "LFDSClassifier | LFDSRegressor", graphs: "GraphSet") -> list[str]:
    """Return two lines about a fit: what it was fitted on, and how well."""
    decoder, histories = estimator.decoder_, estimator.histories_
    score = estimator.validation_score_
    if decoder.kind == "classes":
        what = f"{counted(decoder.outputs, 'class')}: {printable(first_of(decoder.names))}"
        metric = f"accuracy {100 * score:.1f} %"
    elif decoder.kind == "labels":
        what = counted(decoder.outputs, "target")
        what = f"{what} with classes {decoder.names[0]} and {decoder.names[1]}"
        metric = f"log loss {-score:.3f}"
    else:
        what = counted(decoder.outputs, "target")
        # The score is minus the squared error of targets with variance one.
        metric = f"R2 {1 + score:.2f}"
    epoch = " ".join(f"{one.best + 1} of {one.epochs}," for one in histories).removesuffix(",")
    epoch = f"epoch{'s' if len(histories) > 1 else ''} {epoch}"
    several = f" of {len(histories)} members averaged" if len(histories) > 1 else ""
    if histories[0].has_validation:
        kept = "last" if estimator.keep == "last" else "best"
        result = f"{kept} {epoch}, validation {metric}{several}"
    else:
        result = f"last {epoch}, training {metric} (no validation graphs)"
    return [f"fitted on {counted(len(graphs), 'graph')} with {what}", result]


def _estimator_for(
    graphs: "GraphSet", data: str, *, balanced: bool
) -> "LFDSClassifier | LFDSRegressor":
    """Return a new classifier or regressor, whichever fits the targets of the graphs."""
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.regressor import LFDSRegressor
    from lfds.estimator.targets import (
        check_both_classes,
        check_has_targets,
        check_several_classes,
        class_labels,
        target_names,
    )

    check_has_targets(graphs, data, "lfds fit needs labelled graphs")
    if graphs.classes:
        if graphs.y.ndim == 1:
            check_several_classes(class_labels(None, graphs), data)
            _check_repeated(graphs, data)
        else:
            names = target_names(None, graphs, graphs.y.shape[1])
            check_both_classes(graphs.y.numpy(), names, data)
        return LFDSClassifier()
    _check_not_constant(graphs, data)
    if balanced:
        raise DataError(
            f"needs classes, and the targets of {data} are numbers; leave it out",
            source="--balanced",
        )
    return LFDSRegressor()


def _check_repeated(graphs: "GraphSet", data: str) -> None:
    """Raise if no class has a second graph: the targets are names of graphs, or numbers."""
    if len(graphs) > 2 and len(graphs.y.unique()) == len(graphs):
        numbers = all(not isinstance(name, str) for name in graphs.classes)
        fix = "use --task regression" if numbers else "name another column with --target"
        raise DataError(
            f"each of {len(graphs):,} graphs is of a class of its own, such as "
            f"{graphs.classes[0]!r}; {fix}",
            source=data,
        )


def _check_not_constant(graphs: "GraphSet", data: str) -> None:
    from lfds.estimator.targets import constant_target, target_names

    one = graphs.y.ndim == 1 and not graphs.target_names
    names = () if one else target_names(None, graphs, graphs.known_targets.shape[1])
    found = constant_target(graphs.y.numpy(), names)
    if found is not None:
        raise DataError(f"{found}; there is nothing to fit", source=data)
