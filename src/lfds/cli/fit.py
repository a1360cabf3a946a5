"""The command ``lfds fit``; its options are those of the estimators."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfds.cli.arguments import Data, print_warnings
from lfds.cli.data import Root, SkipBad, Target, open_data
from lfds.cli.options import flag_of, network_options, options_from, with_flags
from lfds.config.encoding import NAMES
from lfds.config.errors import SpecError
from lfds.config.network import NetworkSettings
from lfds.config.registry import STRUCTURES
from lfds.data.errors import DataError
from lfds.estimator.options import OWN_SETTINGS, Options

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.regressor import LFDSRegressor

# Options that are not on the command line, or in another form.
_LEAVE_OUT = ("node_attributes", "node_label", "warm_start", "progress")
_OTHERS = ("structure", "encoding", "options", "class_weight")
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
    skip_bad: SkipBad = False,
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
        _fit(data, out, root, target, skip_bad, given)
    except SpecError as error:
        raise SpecError(with_flags(str(error), FLAGS)) from error


def _fit(
    data: str,
    out: Path,
    root: Path,
    target: str | None,
    skip_bad: bool,
    options: Mapping[str, Any],
) -> None:
    # torch and scikit-learn take seconds to import; a misspelt option does not wait for them.
    from lfds.estimator.persistence import check_replaceable

    check_replaceable(out)  # before training, which may take an hour
    graphs = open_data(data, root, target, skip_bad)
    estimator = _estimator_for(graphs, data, balanced="class_weight" in options)
    estimator.set_params(**options, progress=sys.stderr.isatty())
    try:
        with print_warnings():
            estimator.fit(graphs)
    except KeyboardInterrupt:
        typer.echo("lfds: stopped; nothing was written", err=True)
        raise typer.Exit(130) from None
    estimator.set_params(progress=False).save(out)
    for line in summary(estimator, graphs):
        typer.echo(line)
    typer.echo(f"saved as {out}")


def summary(estimator: "LFDSClassifier | LFDSRegressor", graphs: "GraphSet") -> list[str]:
    """Return two lines about a fit: what it was fitted on, and how well."""
    history, decoder = estimator.history_, estimator.decoder_
    score = history.validation[history.best]
    if decoder.kind == "classes":
        what = f"{decoder.outputs} classes: {', '.join(map(str, decoder.names))}"
        metric = f"accuracy {100 * score:.1f} %"
    else:
        what = f"{decoder.outputs} target(s)"
        # The score is minus the squared error of targets with variance one.
        metric = f"R2 {1 + score:.2f}"
    epoch = f"epoch {history.best + 1} of {history.epochs}"
    if history.has_validation:
        result = f"best {epoch}, validation {metric}"
    else:
        result = f"last {epoch}, training {metric} (no validation graphs)"
    return [f"fitted on {len(graphs):,} graphs with {what}", result]


def _estimator_for(
    graphs: "GraphSet", data: str, *, balanced: bool
) -> "LFDSClassifier | LFDSRegressor":
    """Return a new classifier or regressor, whichever fits the targets of the graphs."""
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.regressor import LFDSRegressor
    from lfds.estimator.targets import check_has_targets, check_several_classes, class_labels

    check_has_targets(graphs, data, "lfds fit needs labelled graphs")
    if graphs.classes:
        check_several_classes(class_labels(None, graphs), data)
        return LFDSClassifier()
    if balanced:
        raise DataError(
            f"needs classes, and the targets of {data} are numbers; leave it out",
            source="--balanced",
        )
    return LFDSRegressor()
