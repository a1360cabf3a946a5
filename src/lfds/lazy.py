"""Public names that a package imports on first use: torch takes seconds to import, scipy one."""

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: Its name.
        homes: The module of each public name; ``""`` for a submodule of the package.

    >>> find, names = lazy_names("lfds", {"GraphSet": "lfds.data", "nn": ""})
    >>> names(), find("GraphSet").__name__, find("nn").__name__
    (['GraphSet', 'nn'], 'GraphSet', 'lfds.nn')
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(
                f"module {package!r} has no attribute {name!r}; it offers {', '.join(homes)}"
            )
        if not homes[name]:
            return importlib.import_module(f"{package}.{name}")
        return getattr(importlib.import_module(homes[name]), name)

    return find, lambda: sorted(homes)
