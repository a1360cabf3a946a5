"""The command ``lfds fit``; its options are those of the estimators."""

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lfds.cli.arguments import Data, Root, SkipBad, Target, print_warnings, read_graphs
from lfds.cli.options import network_options
from lfds.config.descriptions import descriptions
from lfds.data.errors import DataError
from lfds.estimator.options import Options, flag_of

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.regressor import LFDSRegressor


def with_estimator_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one flag for every option of :class:`Options` that has one."""
    signature = inspect.signature(command, eval_str=True)
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    flags = [_parameter(name) for name in Options.model_fields if flag_of(name)]
    command.__signature__ = signature.replace(parameters=[*own, *flags])  # type: ignore[attr-defined]
    return command


def spell_flag(option: str) -> str:
    """Return how the command line spells an option of the estimators or of the network."""
    if option not in Options.model_fields:
        return f"--option {option}"
    flag = flag_of(option)
    return flag.name if flag and flag.name else f"--{option.replace('_', '-')}"


def _parameter(option: str) -> inspect.Parameter:
    """Return the parameter of a command for an option, with its help from the description."""
    flag, default = flag_of(option), Options.model_fields[option].default
    assert flag is not None
    first = re.split(r"[.;:] ", descriptions(Options)[option])[0].rstrip(".").replace("`", "")
    names = f": {', '.join(flag.choices)}" if flag.choices else ""
    info = typer.Option(
        spell_flag(option),
        help=f"{flag.help or first}{names}.",
        show_default=False if default is None else str(default),
    )
    is_switch = flag.type is bool
    return inspect.Parameter(
        option,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if is_switch else None,
        annotation=Annotated[flag.type if is_switch else flag.type | None, info],
    )


@with_estimator_options
def fit(
    data: Data,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of the model to write.")],
    root: Root = Path("data"),
    target: Target = None,
    skip_bad: SkipBad = False,
    **flags: Any,
) -> None:
    """Fit a classifier or regressor on labelled graphs and save it."""
    options = options_of(flags)
    checked = Options.of(options, spell_flag)
    checked.network_settings(spell=spell_flag)
    checked.training_settings(spell_flag)
    # torch and scikit-learn take seconds to import; a misspelt option does not wait for them.
    from lfds.estimator.persistence import check_replaceable

    check_replaceable(out)  # before training, which may take an hour
    graphs = read_graphs(data, root, target, skip_bad)
    estimator = _estimator_for(graphs, data, options)
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


def options_of(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that flags stand for; what is not given is left out."""
    given = {
        name: value[0] if isinstance(value, list) and len(value) == 1 else value
        for name, value in flags.items()
        if value is not None and value is not False
    }
    if "class_weight" in given:
        given["class_weight"] = "balanced"
    if "options" in given:
        given["options"] = network_options(flags["options"])
    return given


def summary(estimator: "LFDSClassifier | LFDSRegressor", graphs: "GraphSet") -> list[str]:
    """Return two lines about a fit: what it was fitted on, and how well."""
    from lfds.estimator.classifier import LFDSClassifier

    history = estimator.history_
    score = history.validation[history.best]
    if isinstance(estimator, LFDSClassifier):
        names = ", ".join(str(name) for name in estimator.classes_.tolist())
        what = f"{len(estimator.classes_)} classes: {names}"
        metric = f"accuracy {100 * score:.1f} %"
    else:
        what = f"{estimator.decoder_.outputs} target(s)"
        # The score is minus the squared error of targets with variance one.
        metric = f"R2 {1 + score:.2f}"
    epoch = f"epoch {history.best + 1} of {history.epochs}"
    if history.has_validation:
        result = f"best {epoch}, validation {metric}"
    else:
        result = f"last {epoch}, training {metric} (no validation graphs)"
    return [f"fitted on {len(graphs):,} graphs with {what}", result]


def _estimator_for(
    graphs: "GraphSet", data: str, options: Mapping[str, Any]
) -> "LFDSClassifier | LFDSRegressor":
    """Return a new classifier or regressor, whichever fits the targets of the graphs."""
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.regressor import LFDSRegressor
    from lfds.estimator.targets import check_has_targets, check_several_classes, class_labels

    check_has_targets(graphs, data, "lfds fit needs labelled graphs")
    if graphs.classes:
        check_several_classes(class_labels(None, graphs), data)
        return LFDSClassifier()
    if "class_weight" in options:
        raise DataError(
            f"needs classes, and the targets of {data} are numbers; leave it out",
            source=spell_flag("class_weight"),
        )
    return LFDSRegressor()
