"""The most memory a stretch of work had in use, beyond what its process held when it began.

Linux keeps the largest resident set of a process (``VmHWM``) and lets the process itself set that
mark back. Nothing is sampled: a peak of a microsecond counts, and looking costs nothing.
"""

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_SET_MARK_BACK = "5"


def begin_peak() -> Callable[[], int | None]:
    """Begin to watch, and return the function that says how many bytes the peak was above now.

    Memory that earlier work has freed is first handed back to the system: what this stretch of work
    takes again counts as its own. Pages of mapped files count when they are touched first, so that
    the first fold of a process also pays for code and data that the later ones find there.

    The function returns None where the system keeps no such mark: elsewhere than on Linux, or in a
    container that forbids setting it back. One watch at a time: a second one sets back the first's.
    """
    _hand_back_freed()
    try:
        _CLEAR.write_text(_SET_MARK_BACK)
        begin = _bytes_of("VmRSS")
    except OSError:
        return lambda: None
    # A process may end with less than it began with; its peak was no less than nothing.
    return lambda: max(0, _bytes_of("VmHWM") - begin)


def _bytes_of(entry: str) -> int:
    """Read an entry of the status of this process, ``VmRSS:  123 kB``."""
    lines = _STATUS.read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{entry}:"))


def _hand_back_freed() -> None:
    gc.collect()
    # Of glibc alone; where the C library has no such function, what was freed stays in its hands.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
