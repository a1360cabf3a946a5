"""Which programs made a result: their versions, written down with every fold."""

import platform
from functools import cache
from importlib.metadata import version

from lfds import __version__

_PACKAGES = ("torch", "torch-geometric", "numpy", "scipy")


@cache
def versions() -> dict[str, str]:
    """Return the versions of everything that has a say in the numbers, by name."""
    found = {"lfds": __version__, "python": platform.python_version()}
    found |= {package: version(package) for package in _PACKAGES}
    return found | {"machine": f"{platform.system()} {platform.machine()}"}
