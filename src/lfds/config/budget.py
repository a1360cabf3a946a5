"""How much memory may be used: one budget, compared with an estimate before memory is requested.

Operating systems grant memory that they do not have, and kill the process that uses it.
"""

import os
import re
from math import inf

from lfds.config.messages import SpecError

VARIABLE = "LFDS_MAX_MEMORY"
"""The environment variable that sets the budget, as ``16GB``."""

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_MAX_SHOWN = 10**18  # beyond, "at least" says enough


def memory_budget() -> float:
    """Return the bytes that may be used: ``LFDS_MAX_MEMORY``, else the memory of this machine.

    Raises:
        SpecError: The variable is set to something else.
    """
    given = os.environ.get(VARIABLE, "").strip()
    if not given:
        return machine_memory()
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)I?B?", given.upper())
    if found is None:
        raise SpecError(f"{VARIABLE}: needs an amount of memory, as 16GB, not {given!r}")
    return float(found[1]) * _UNITS[found[2]]


def machine_memory() -> float:
    """Return the bytes of memory of this machine; infinity where they are unknown."""
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError):
        return inf
    return float(pages * size) if pages > 0 else inf  # -1 where it is unknown


def over_budget(needed: int, available: float | None = None) -> str | None:
    """Return how much memory is missing, for a message; None where there is enough.

    Args:
        needed: Bytes, at least.
        available: The budget; :func:`memory_budget` by default.

    >>> over_budget(5 * 10**9, available=2e9)
    'takes at least 5 GB of memory, and 2 GB may be used (LFDS_MAX_MEMORY sets how much)'
    """
    available = memory_budget() if available is None else available
    if needed <= available:
        return None
    return (
        f"takes at least {_amount(min(needed, _MAX_SHOWN))} of memory, and {_amount(available)} "
        f"may be used ({VARIABLE} sets how much)"
    )


def _amount(size: float) -> str:
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if size >= unit:
            return f"{size / unit:,.0f} {name}"
    return f"{size / 1000:,.0f} kB"
