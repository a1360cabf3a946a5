"""What decides the last bits of a result beside the code: libraries and processor."""

import platform
from importlib.metadata import PackageNotFoundError, version

import torch

LIBRARIES = ("torch", "numba", "llvmlite", "numpy", "scipy", "scikit-learn")


def machine():
    """Return everything that has to be the same where results are to agree bit by bit."""
    return {name: _version(name) for name in LIBRARIES} | {
        "machine": f"{platform.system()} {platform.machine()}",
        "torch vectors": torch.backends.cpu.get_cpu_capability(),
        "processor": _processor(),
    }


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor():
    """Return the processor that numba compiles for; None without numba."""
    try:
        from llvmlite.binding import get_host_cpu_name
    except ImportError:
        return None
    return get_host_cpu_name()
