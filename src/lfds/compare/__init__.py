"""Comparing poolings: protocols, folds, and the processes that run them."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lfds.compare.runner import compare
    from lfds.config.comparison import CompareSpec
    from lfds.config.errors import SpecError

__all__ = ["CompareSpec", "SpecError", "compare"]

_HOMES = {
    "CompareSpec": "lfds.config.comparison",
    "SpecError": "lfds.config.errors",
    "compare": "lfds.compare.runner",
}


def __getattr__(name: str) -> object:
    # torch takes a second to import; help texts do not need it.
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(
        f"module 'lfds.compare' has no attribute {name!r}; it offers {', '.join(__all__)}"
    )


def __dir__() -> list[str]:
    return sorted(__all__)
