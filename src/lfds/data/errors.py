"""The one exception for data that cannot be used: where, what, and the way out, in one line."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

_LONGEST_VALUE = 60


class DataError(ValueError):
    """Data given by a user cannot be used.

    Args:
        problem: What is wrong, what was needed, and what to do about it.
        source: The file, folder or argument it was found in.
        line: The line in that file, counted from 1.
    """

    def __init__(
        self, problem: str, *, source: str | PathLike[str] | None = None, line: int | None = None
    ) -> None:
        where = "" if source is None else str(source)
        if line is not None:
            where += f", line {line}"
        message = f"{where}: {problem}" if where else problem
        # A message is one line whatever a file was called or held.
        super().__init__(" ".join(message.split()))
        self.source = source
        self.line = line


def quoted(value: object) -> str:
    """Return ``value`` as it may stand in a message: printable, and never long."""
    text = value if isinstance(value, str) else str(value)
    text = text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "..."
    return repr(text)


@contextmanager
def reading(source: str | PathLike[str]) -> Iterator[None]:
    """Turn what the system says against reading ``source`` into a DataError."""
    try:
        yield
    except OSError as error:
        place = error.filename if isinstance(error.filename, str) else source
        raise DataError(f"cannot be read ({error.strerror or error})", source=place) from error
