"""Options made from settings, and options that take several values."""

import inspect
import json
import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from functools import wraps
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typer.core import TyperCommand

from lfds.config.errors import SpecError

_NO_FLAGS: Mapping[str, str] = {}


class ManyValues(TyperCommand):
    """A command whose list options take all values that follow: ``--pool max loop image``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat list options before each of their values, as the parser needs it."""
        lists = [option for option in self.params if getattr(option, "multiple", False)]
        return super().parse_args(ctx, spread(args, {flag for one in lists for flag in one.opts}))


def spread(args: Iterable[str], many: Container[str]) -> list[str]:
    """Repeat the options in ``many`` before each of their values.

    >>> spread(["--pool", "max", "loop", "--folds", "5"], {"--pool"})
    ['--pool', 'max', '--pool', 'loop', '--folds', '5']
    """
    repeated: list[str] = []
    option = ""
    for arg in args:
        if arg.startswith("-"):
            option = arg if arg in many else ""
            if not option:
                repeated.append(arg)
        else:
            repeated += [option, arg] if option else [arg]
    return repeated


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
    """
    names = "|".join(map(re.escape, flags))
    message = re.sub(rf"^({names})(?=:)", lambda found: flags[found[1]], message)
    return re.sub(rf"\b({names})=(?=\S)", lambda found: f"{flags[found[1]]} ", message)


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
