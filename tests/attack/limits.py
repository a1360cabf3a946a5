"""Limits of memory and time for one input, inside the process that reads it."""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = 2**30
"""Bytes that reading a small input may add to the process."""
CPU_SECONDS = 20
"""Of the processor, not of the clock: a busy machine is no failure."""


@contextmanager
def limited(memory: int = MEMORY, cpu_seconds: float = CPU_SECONDS) -> Iterator[None]:
    """Raise a MemoryError or an OutOfTimeError in the block if it takes too much."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + memory, hard))
    earlier = signal.signal(signal.SIGPROF, _too_long)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, earlier)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


class OutOfTimeError(BaseException):
    """Raised by a timer; no reader catches it by accident."""


def _too_long(number: int, frame: object) -> None:
    raise OutOfTimeError("too long")


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()
