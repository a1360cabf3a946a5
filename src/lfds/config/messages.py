"""What messages say about unknown names and invalid settings, the same everywhere."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError


def closest(name: object, known: Iterable[str]) -> str | None:
    """Return the known name that is spelt most like ``name``, or None.

    >>> closest("Lop", ["loop", "image"])
    'loop'
    """
    by_lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(str(name).lower(), by_lower, n=1, cutoff=0.5)
    return by_lower[near[0]] if near else None


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the closest one, or nothing.

    >>> did_you_mean("lop", ["loop", "image"])
    "; did you mean 'loop'?"
    """
    near = closest(name, known)
    return "" if near is None else f"; did you mean {near!r}?"


def choose_from(name: object, known: Iterable[str]) -> str:
    """Return what to do about an unknown name: the closest one, and all there are.

    >>> choose_from("lop", ["loop", "image"])
    "did you mean 'loop'? choose from loop, image"
    """
    known = list(known)
    near = closest(name, known)
    hint = "" if near is None else f"did you mean {near!r}? "
    return f"{hint}choose from {', '.join(known)}"


def one_line(error: ValidationError, known: Mapping[str, Any]) -> str:
    """Return what is wrong with some settings as one line.

    Args:
        error: What pydantic found.
        known: The settings there are, by name.
    """
    errors = error.errors(include_url=False)
    # A union fails once for each of its members: take the one that was validated furthest.
    ways = [way for way in errors if way["loc"][:1] == errors[0]["loc"][:1]]
    first = max(ways, key=lambda way: (len(way["loc"]), way["type"] == "value_error"))
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        return f"no option is called {where!r}; {choose_from(where, known)}"
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "value_error":  # our own message, which names the value
        named = not where or message.startswith(f"{where} ")
        return message if named else f"{where}: {message}"
    return f"{where}: {message}, not {first['input']!r}"
