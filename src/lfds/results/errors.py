"""The exceptions for results that cannot be used: where, what, and the way out, in one line."""

from os import PathLike


class ResultsError(ValueError):
    """A folder of results cannot be read, written or counted.

    Args:
        problem: What is wrong, what was needed, and what to do about it.
        source: The file or folder it was found in.
        line: The line in that file, counted from 1.
    """

    def __init__(
        self, problem: str, *, source: str | PathLike[str] | None = None, line: int | None = None
    ) -> None:
        where = "" if source is None else str(source)
        if line is not None:
            where += f", line {line}"
        # A message is one line whatever a file was called or held.
        super().__init__(" ".join((f"{where}: {problem}" if where else problem).split()))


class IncompleteRunError(ResultsError):
    """Some folds are missing, failed or doubled: half a run has no mean."""
