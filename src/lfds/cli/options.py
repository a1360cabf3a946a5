"""What commands share: options made from settings, arguments, checks."""

import inspect
import json
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO, Union, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from lfds.cli.data import SOURCE_HELP
from lfds.config.messages import SpecError, as_message
from lfds.data.errors import DataError, reading

if TYPE_CHECKING:
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.regressor import LFDSRegressor

_NO_FLAGS: Mapping[str, str] = {}


def options_from(
    settings: type[BaseModel],
    *,
    leave_out: Collection[str] = (),
    flags: Mapping[str, str] = _NO_FLAGS,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add an option to a command for each field of some settings.

    The command takes them as ``**given``, by the names of the fields; options that are not on the
    command line are left out. Their help is the description of the field.

    Args:
        settings: The settings.
        leave_out: Fields without an option.
        flags: Flags by field, where it is not the name of the field.
    """
    # Fields of the class itself come before those it inherits.
    names = sorted(settings.model_fields, key=lambda name: name not in settings.__annotations__)
    made = {
        name: _parameter(name, settings.model_fields[name], flags.get(name, flag_of(name)))
        for name in names
        if name not in leave_out
    }

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**arguments: Any) -> None:
            unset = {name for name in made if arguments[name] is None}
            command(**{name: value for name, value in arguments.items() if name not in unset})

        *own, _ = inspect.signature(command).parameters.values()
        run.__signature__ = inspect.Signature([*own, *made.values()])  # type: ignore[attr-defined]
        return run

    return decorate


def flag_of(name: str) -> str:
    """Return the flag of a field.

    >>> flag_of("batch_size")
    '--batch-size'
    """
    return f"--{name.replace('_', '-')}"


def with_flags(message: str, flags: Mapping[str, str]) -> str:
    """Return a message about Python arguments with the flags of the command line.

    >>> with_flags("folds: 9 are too many; use folds=2", {"folds": "--folds"})
    '--folds: 9 are too many; use --folds 2'
    >>> with_flags("use heads=1", {"heads": "--option heads"})
    'use --option heads=1'
    """
    names = "|".join(map(re.escape, flags))
    message = re.sub(rf"^({names})(?=:)", lambda found: flags[found[1]], message)
    # A setting of the network is NAME=VALUE behind its flag.
    given = {name: f"{flag}{'=' if ' ' in flag else ' '}" for name, flag in flags.items()}
    return re.sub(rf"\b({names})=(?=\S)", lambda found: given[found[1]], message)


def network_options(entries: Iterable[str]) -> dict[str, Any]:
    """Return settings of a network from ``--option``; values are JSON or, if they are not, text.

    >>> network_options(["slots=16", "reduction=mass"])
    {'slots': 16, 'reduction': 'mass'}
    """
    options: dict[str, Any] = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not equals:
            raise SpecError(f"--option: must be NAME=VALUE, as slots=16, not {entry!r}")
        try:
            options[name.replace("-", "_")] = json.loads(value)
        except ValueError:
            options[name.replace("-", "_")] = value
    return options


def _parameter(name: str, field: FieldInfo, flag: str) -> inspect.Parameter:
    choices = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    help_text = " ".join((field.description or "").replace("``", "`").split())
    default = field.get_default(call_default_factory=False)
    if default not in (None, ()) and "default" not in help_text:
        shown = " ".join(default) if isinstance(default, tuple) else default
        help_text = f"{help_text} (default: {shown})"
    kind = _option_type(name, field.annotation)
    declared = f"{flag}/--no-{flag.removeprefix('--')}" if kind is bool else flag
    option = typer.Option(declared, help=help_text, metavar="|".join(choices) or None)
    annotation = Annotated[kind | None, option]  # type: ignore[valid-type]
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _option_type(name: str, annotation: Any) -> Any:
    """Return the type of an option; what else a field needs is checked by the settings."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType) and len(inner) == 2 and NoneType in inner:
        return _option_type(name, next(one for one in inner if one is not NoneType))
    if origin is Annotated:
        return _option_type(name, inner[0])
    if origin in (tuple, list):
        return list[_option_type(name, inner[0])]  # type: ignore[misc]
    if origin is Literal:
        return str
    if annotation in (bool, int, float, str):
        return annotation
    raise TypeError(f"no option can be made from {name}: {annotation}; leave it out")


Data = Annotated[str, typer.Argument(help=SOURCE_HELP)]
Model = Annotated[Path, typer.Argument(help="Folder of a saved model.")]
Device = Annotated[
    str | None, typer.Option(help="Where to compute: cpu (default), cuda, mps, ..., or auto.")
]
Precision = Annotated[
    str | None,
    typer.Option(help="Precision of products; the model's by default.", metavar="32|bf16"),
]


def run_on(
    estimator: "LFDSClassifier | LFDSRegressor", device: str | None, precision: str | None = None
) -> "LFDSClassifier | LFDSRegressor":
    """Return a loaded estimator that computes on a device and in a precision, if given."""
    from lfds.estimator.options import Options
    from lfds.train.device import resolve_device

    given = {"device": device, "precision": precision}
    given = {name: value for name, value in given.items() if value is not None}
    try:
        Options.of(given)
        resolve_device(device or "cpu")
    except SpecError as error:
        raise SpecError(with_flags(str(error), {name: flag_of(name) for name in given})) from error
    estimator.set_params(**given)
    return estimator


@contextmanager
def print_warnings() -> Iterator[None]:
    """Print the first warning of every category as one line on standard error."""
    printed: set[type[Warning]] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if category not in printed:
            printed.add(category)
            typer.echo(f"lfds: warning: {as_message(str(message))}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def check_output(out: Path, model: Path, data: Iterable[Path] = ()) -> None:
    """Raise if writing a file would overwrite an input.

    Args:
        out: The file to write.
        model: Folder of a model; no other files may be written there.
        data: Files and folders with graphs; new files may be written to such a folder.
    """
    check_not_in_model(out, model)
    with reading(out):
        if out.is_dir():
            raise DataError("is a folder, but a file is to be written; name a file", source=out)
        lost = next((place for place in data if out.exists() and _within(out, place)), None)
    if lost is not None:
        what = "is an input" if out.samefile(lost) else f"is part of the input {lost}"
        raise DataError(f"{what} and would be overwritten; choose a new file", source=out)


def check_not_in_model(out: Path, model: Path) -> None:
    """Raise if a path is in the folder of a model."""
    with reading(out):
        inside = _within(out, model)
    if inside:
        raise DataError(
            f"is in the model folder {model}, which holds nothing else; choose another place",
            source=out,
        )


def check_not_in_data(out: Path, data: Iterable[Path]) -> None:
    """Raise if a folder to be written is an input, or in one."""
    for place in data:
        with reading(out):
            inside = _within(out, place)
        if inside:
            raise DataError(f"is in the input {place}; choose another place", source=out)


def _within(out: Path, place: Path) -> bool:
    """Whether a path is another one or below it, whatever links lead there."""
    real = Path(os.path.realpath(out))
    existing = (path for path in (real, *real.parents) if path.exists())
    return place.exists() and any(path.samefile(place) for path in existing)
