"""What may become of one input: a sane result, a clean error, or one of several failures."""

import unicodedata
from dataclasses import dataclass

from lfds.config.messages import SpecError
from lfds.data.errors import DataError
from lfds.explain import ExplainError
from lfds.results.record import ResultsError
from lfds.train import DivergedError
from tests.attack.limits import OutOfTimeError

OWN_ERRORS = (DataError, DivergedError, ExplainError, ResultsError, SpecError)
MAX_MESSAGE = 1000
FINE = ("result", "refused")
FAILURES = {
    "traceback": "another exception than our own",
    "insane": "a result that is not valid",
    "message": "an error of several lines, with control characters, or without end",
    "memory": "more memory than an input of this size may take",
    "time": "more time than an input of this size may take",
    "warning": "a warning about numbers",
    "leftover": "a file that was made, changed or removed by reading",
    "crash": "the end of the process",
}


class InsaneError(Exception):
    """A reader accepted something, and the result is not valid."""


@dataclass(frozen=True)
class Outcome:
    """What became of one input.

    Attributes:
        kind: One of ``FINE`` or of ``FAILURES``.
        detail: The message or the last lines of the traceback.
    """

    kind: str
    detail: str = ""

    @property
    def is_failure(self) -> bool:
        return self.kind not in FINE


def of_error(error: BaseException, traceback: str) -> Outcome:
    """Return what an exception means."""
    if _is_out_of_memory(error):
        return Outcome("memory", traceback)
    if isinstance(error, OutOfTimeError):
        return Outcome("time", traceback)
    if isinstance(error, InsaneError):
        return Outcome("insane", traceback)
    if not isinstance(error, OWN_ERRORS):
        return Outcome("traceback", traceback)
    problem = unclear(str(error))
    return Outcome("message", f"{problem}: {str(error)[:200]!r}") if problem else Outcome("refused")


def unclear(message: str) -> str | None:
    """Return why a message is not one clear line, or None if it is."""
    if len(message) > MAX_MESSAGE:
        return f"{len(message)} characters"
    # Control characters, surrogates, and what changes the direction or the line.
    wrong = [c for c in message if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp", "Cf")]
    return f"holds {wrong[0]!r}" if wrong else None


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, also where a reader made another error of it."""
    causes: list[BaseException] = []
    here: BaseException | None = error
    while here is not None and here not in causes:
        causes.append(here)
        here = here.__cause__ or here.__context__
    return any(
        isinstance(cause, MemoryError) or "can't allocate memory" in str(cause) for cause in causes
    )
