"""What settings mean, read from the ``Attributes:`` of their models: for help texts and tables."""

import inspect
import re
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

_BOUNDS = {Ge: ("ge", ">="), Gt: ("gt", ">"), Le: ("le", "<="), Lt: ("lt", "<")}


def descriptions(settings: type[BaseModel]) -> dict[str, str]:
    """Return the description of every setting, from the docstrings of a model and its bases.

    Raises:
        KeyError: If the docstrings do not describe a setting.
    """
    found: dict[str, str] = {}
    for model in reversed(settings.__mro__):
        found |= _attributes(inspect.cleandoc(model.__doc__ or ""))
    return {name: found[name] for name in settings.model_fields}


def options_table(settings: type[BaseModel]) -> str:
    """Return all settings as a Markdown table: name, values, default and meaning.

    The values are the ``description`` of a field, or its type and bounds.
    """
    rows = [
        f"| `{name}` | {_values(settings.model_fields[name])} "
        f"| {_default(settings.model_fields[name])} | {_markdown(text)} |"
        for name, text in descriptions(settings).items()
    ]
    return "\n".join(["| option | values | default | meaning |", "|---|---|---|---|", *rows])


def _attributes(docstring: str) -> dict[str, str]:
    _, _, section = docstring.partition("Attributes:\n")
    found: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        if not line.startswith("    "):
            break
        entry = re.match(r" {4}(\w+): (.*)", line)
        if entry:
            name, text = entry.groups()
            found[name] = text
        elif name:
            found[name] += f" {line.strip()}"
    return found


def _values(field: FieldInfo) -> str:
    if field.description:
        return field.description
    if get_origin(field.annotation) is Literal:
        return ", ".join(f"`{value!r}`" for value in get_args(field.annotation)).replace("'", '"')
    bounds = [
        f"{sign} {getattr(mark, name)}"
        for mark in field.metadata
        for kind, (name, sign) in _BOUNDS.items()
        if isinstance(mark, kind)
    ]
    return ", ".join([getattr(field.annotation, "__name__", "any"), *bounds])


def _default(field: FieldInfo) -> str:
    default: Any = field.default
    return "required" if field.is_required() else f"`{default!r}`".replace("'", '"')


def _markdown(text: str) -> str:
    """Turn roles and double backticks of reStructuredText into code of Markdown."""
    return re.sub(r":\w+:`([^`]+)`", r"`\1`", text).replace("``", "`").replace("|", "\\|")
