"""Memory for networks: checked before one is built, and explained when it runs out."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

from lfds.config.errors import SpecError
from lfds.nn import GraphNetwork, NetworkSettings

BYTES_PER_PARAMETER = 4 * 4
"""In float32, four times: the weights, their gradients, and the two moments of Adam."""

_SIZES = ("width", "layers", "head_width", "slots", "depth", "clusters", "seeds", "sorted_nodes")
_MAX_SHOWN = 10**18  # beyond, "at least" says enough


def build_network(features: int, outputs: int, settings: NetworkSettings) -> GraphNetwork:
    """Return a new network, or raise a SpecError if there is not enough memory for it."""
    check_memory(settings)
    with memory_errors_explained(settings):
        return GraphNetwork(features, outputs, settings)


def check_memory(settings: NetworkSettings, available: float | None = None) -> None:
    """Raise a SpecError if a network cannot be trained in the memory of this machine.

    Operating systems grant memory that they do not have, and kill the process that uses it.

    Args:
        settings: The network.
        available: Bytes of memory; those of this machine by default.
    """
    available = machine_memory() if available is None else available
    needed = BYTES_PER_PARAMETER * min_parameters(settings)
    if needed <= available:
        return
    largest = min(_SIZES, key=lambda name: min_parameters(_with_default(settings, name)))
    raise SpecError(
        f"{largest}: {getattr(settings, largest)} makes a network that takes at least "
        f"{min(needed, _MAX_SHOWN) // 10**9:,} GB to train, and this machine has "
        f"{available / 1e9:,.0f} GB; choose a smaller one"
    )


@contextmanager
def memory_errors_explained(
    settings: NetworkSettings, batch_size: int | None = None
) -> Iterator[None]:
    """Turn out-of-memory errors of torch and NumPy into a SpecError that names the sizes."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # torch has no exception of its own for the memory of the CPU.
        if not (isinstance(error, MemoryError) or "can't allocate memory" in str(error)):
            raise
        sizes = {name: getattr(settings, name) for name in ("width", "head_width", "slots")}
        if batch_size is not None:
            sizes["batch_size"] = batch_size
        listed = ", ".join(f"{name} {value}" for name, value in sizes.items())
        raise SpecError(
            f"memory ran out for a network of {settings.pool} with {listed}; lower one of them"
        ) from error


def min_parameters(settings: NetworkSettings) -> int:
    """Return a lower bound of the number of parameters of a network, without building it."""
    width, slots = settings.width, settings.slots
    base = 2 * (settings.layers - 1) * width**2
    # The input of the head is as wide as the base, or as the rows that `sort` keeps.
    pooled = 32 * (settings.sorted_nodes // 2 - 4) if settings.pool == "sort" else width
    head = (pooled + settings.head_width) * settings.head_width
    anchors = {"mixture": 4, "generated": width}.get(settings.anchors, 1) * slots * width
    pool = {"diff": settings.clusters * width, "gmt": settings.seeds * width}.get(settings.pool, 0)
    for name in settings.structures:
        pool += anchors + settings.depth * width**2
        pool += settings.depth * slots * width if settings.readout == "max+weighted" else 0
        pool += slots**2 if name.startswith("learned-") else 0
    return base + head + pool


def machine_memory() -> float:
    """Return the bytes of memory of this machine; infinity where they are unknown."""
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError):
        return inf
    return float(pages * size) if pages > 0 else inf  # -1 where it is unknown


def _with_default(settings: NetworkSettings, name: str) -> NetworkSettings:
    default = NetworkSettings.model_fields[name].default
    return settings.model_copy(update={name: min(default, getattr(settings, name))})
