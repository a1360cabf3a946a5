"""The exceptions for results that cannot be used: one line with the place, the problem, the fix."""

from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class ResultsError(ValueError):
    """Results cannot be read, written or evaluated.

    Args:
        problem: What is wrong, and how to fix it.
        source: The file or folder.
        line: The line of the file, counted from 1.
    """

    def __init__(
        self, problem: str, *, source: str | PathLike[str] | None = None, line: int | None = None
    ) -> None:
        where = "" if source is None else str(source)
        if line is not None:
            where += f", line {line}"
        # One line, whatever names and files contain.
        super().__init__(" ".join((f"{where}: {problem}" if where else problem).split()))


class IncompleteRunError(ResultsError):
    """Some folds are missing, failed or duplicated, so there is no mean."""


def first_problem(error: "ValidationError") -> str:
    """Return the first problem that pydantic found, as ``field: message``."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]
