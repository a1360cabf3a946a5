"""The exception for invalid settings, and what messages say about them: the same everywhere."""

import difflib
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

from pydantic import ValidationError

# The beginning names the thing, and the end says what to do.
_MAX_LENGTH, _HEAD, _TAIL = 950, 620, 300
_MAX_NAME = 100
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 120
_SHORT.maxlevel = 3


class SpecError(ValueError):
    """Invalid settings: the message names the setting, what it needs, the value and the fix."""

    def __init__(self, problem: str) -> None:
        super().__init__(located(problem))


def located(
    problem: str, source: str | PathLike[str] | None = None, line: int | None = None
) -> str:
    """Return a message that begins with its place, as one line; see :func:`as_message`.

    >>> located("is empty", "a.csv", 3)
    'a.csv, line 3: is empty'
    """
    where = "" if source is None else str(source)
    if line is not None:
        where += f", line {line}"
    return as_message(f"{where}: {problem}" if where else problem)


def as_message(text: str) -> str:
    r"""Return a message as one line of printable characters, without its middle if it is long.

    Names and contents of files may hold line breaks, commands for terminals, or a million letters.

    >>> as_message("bad\x1b[2J   name\n")
    'bad\\x1b[2J name'
    """
    line = printable(" ".join(text.split()))
    return line if len(line) <= _MAX_LENGTH else f"{line[:_HEAD]} ... {line[-_TAIL:]}"


def printable(text: str) -> str:
    r"""Return a text with everything escaped that is no letter, sign or blank.

    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def is_text(text: str) -> bool:
    r"""Whether a text can be written as UTF-8: half of a character (a lone surrogate) cannot.

    >>> is_text("\u00e9"), is_text("\udce9")
    (True, False)
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def shortened(value: object) -> str:
    """Return the ``repr`` of a value, cut where it is long, deep or has many entries."""
    return _SHORT.repr(value)


def counted(number: int, what: str) -> str:
    """Return a number with what it counts, in the plural unless it is one.

    >>> counted(1, "row"), counted(1200, "molecule")
    ('1 row', '1,200 molecules')
    """
    plural = f"{what}es" if what.endswith("s") else f"{what}s"
    return f"{number:,} {what if number == 1 else plural}"


def first_of(names: Sequence[object], most: int = 5) -> str:
    """Return the first names of many.

    >>> first_of(range(3)), first_of("abcdefg")
    ('0, 1, 2', 'a, b, c, d, e, ...')
    """
    return ", ".join(map(str, names[:most])) + (", ..." if len(names) > most else "")


def closest(name: object, known: Iterable[str]) -> str | None:
    """Return the known name that is spelt most like ``name``, or None.

    >>> closest("Lop", ["loop", "image"])
    'loop'
    """
    by_lower = {one.lower(): one for one in known}
    wanted = str(name).lower()[:_MAX_NAME]
    near = difflib.get_close_matches(wanted, by_lower, n=1, cutoff=0.5)
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
        return f"no option is called {shortened(where)}; {choose_from(where, known)}"
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "value_error":  # our own message, which names the value
        named = not where or message.startswith(f"{where} ")
        return message if named else f"{where}: {message}"
    return f"{where}: {message}, not {shortened(first['input'])}"
