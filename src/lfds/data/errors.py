"""The exception for data that cannot be used, and checks of arguments that raise it."""

import operator
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from lfds.config.messages import did_you_mean, is_text, located

_MAX_LENGTH = 60


class DataError(ValueError):
    """Data given by a user cannot be used.

    Args:
        problem: What is wrong, what is needed, and how to fix it.
        source: The file, folder or argument with the problem.
        line: The line of that file, counted from 1.
    """

    def __init__(
        self, problem: str, *, source: str | PathLike[str] | None = None, line: int | None = None
    ) -> None:
        super().__init__(located(problem, source, line))
        self.problem = problem
        self.source = source
        self.line = line


class TaskError(DataError):
    """Targets are no classes, or no numbers, where these are needed.

    Args:
        problem: What is wrong.
        found: One of the targets, as text.
        source: The file or argument.
        line: The line of that file.
    """

    def __init__(
        self,
        problem: str,
        *,
        found: str = "",
        source: str | PathLike[str] | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(problem, source=source, line=line)
        self.found = found


def quoted(value: object) -> str:
    """Return ``value`` for a message: quoted, printable, cut to 60 characters."""
    text = value if isinstance(value, str) else str(value)
    text = text if len(text) <= _MAX_LENGTH else text[:_MAX_LENGTH] + "..."
    return repr(text)


@contextmanager
def reading(source: str | PathLike[str]) -> Iterator[None]:
    """Turn an OSError while reading ``source`` into a DataError."""
    try:
        yield
    except OSError as error:
        place = error.filename if isinstance(error.filename, str) else source
        raise DataError(f"cannot be read ({error.strerror or error})", source=place) from error


def check_regular(path: Path) -> None:
    """Raise a DataError for a device, which has no end, or a pipe; links are followed."""
    with reading(path):
        mode = path.stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise DataError("is a device or pipe; give a file or a folder", source=path)


def check_text(texts: Iterable[object], source: str | PathLike[str]) -> None:
    """Raise a DataError if a text cannot be written to files; other values are left alone.

    Python keeps names of files that are not UTF-8 as halves of characters, which no file of ours
    could be read with again.
    """
    for text in texts:
        if isinstance(text, str) and not is_text(text):
            raise DataError(
                f"{quoted(text)} is not valid Unicode, as names of files in another encoding are; "
                "rename it",
                source=source,
            )


def check_choice(value: object, allowed: Collection[str], name: str) -> None:
    """Raise unless ``value`` is one of the ``allowed`` values of the argument ``name``.

    >>> check_choice("keep", ("keep", "remove"), "self_loops")
    """
    if not isinstance(value, str) or value not in allowed:
        need = " or ".join(map(quoted, allowed))
        raise DataError(
            f"needs {need}, not {quoted(value)}{did_you_mean(value, allowed)}", source=name
        )


def check_seed(seed: object) -> int:
    """Return ``seed`` as an int; equal numbers of other types must give equal streams."""
    try:
        if isinstance(seed, bool):
            raise TypeError
        return operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        raise DataError(f"needs a whole number, not {quoted(seed)}", source="seed") from None
