"""Tables of settings for the documentation, from the fields of their models."""

import inspect
import re
from typing import Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

_BOUNDS = {Ge: ("ge", ">="), Gt: ("gt", ">"), Le: ("le", "<="), Lt: ("lt", "<")}


def descriptions(settings: type[BaseModel]) -> dict[str, str]:
    """Return the description of every setting.

    It is that of the field, or the one under ``Attributes:`` in the docstring of the model or of
    one of its bases; a KeyError names a setting that has neither.
    """
    found: dict[str, str] = {}
    for model in reversed(settings.__mro__):
        found |= _attributes(inspect.cleandoc(model.__doc__ or ""))
    fields = settings.model_fields.items()
    texts = {name: field.description or found[name] for name, field in fields}
    return {name: " ".join(text.split()) for name, text in texts.items()}


def options_table(settings: type[BaseModel]) -> str:
    """Return all settings as a Markdown table: name, values, default and meaning.

    The values are the title of a field, or its type and bounds.
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
    if field.title:
        return field.title
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
