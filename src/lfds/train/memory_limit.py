"""Whether there is memory for a network: asked before it is built, and said when it runs out."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

from lfds.config.errors import SpecError
from lfds.nn import GraphNetwork, NetworkSettings

# float32, four times: the weights, their gradients, and the two moments of Adam.
BYTES = 4 * 4
_SIZES = ("width", "layers", "head_width", "slots", "depth", "clusters", "seeds", "sorted_nodes")
_MOST_SAID = 10**18  # beyond, "at least" says enough


def build_network(features: int, outputs: int, settings: NetworkSettings) -> GraphNetwork:
    """Return a new network, or say in one line that there is no room for it."""
    check_room(settings)
    with room_told(settings):
        return GraphNetwork(features, outputs, settings)


def check_room(settings: NetworkSettings) -> None:
    """Refuse a network that cannot be trained on this machine, before memory is asked for.

    Systems promise memory that they do not have, and end the process that uses it.
    """
    need, there = BYTES * least_learned(settings), machine_memory()
    if need <= there:
        return
    blamed = min(_SIZES, key=lambda name: least_learned(_as_usual(settings, name)))
    raise SpecError(
        f"{blamed}: {getattr(settings, blamed)} makes a network that takes at least "
        f"{min(need, _MOST_SAID) // 10**9:,} GB to train, and this machine has "
        f"{there / 1e9:,.0f} GB; choose a smaller one"
    )


@contextmanager
def room_told(settings: NetworkSettings, batch_size: int | None = None) -> Iterator[None]:
    """Turn what torch and NumPy say when memory runs out into a line about what asked for it."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        # torch has no exception of its own for the memory of the CPU.
        if not (isinstance(error, MemoryError) or "can't allocate memory" in str(error)):
            raise
        asked = {name: getattr(settings, name) for name in ("width", "head_width", "slots")}
        if batch_size is not None:
            asked["batch_size"] = batch_size
        told = ", ".join(f"{name} {value}" for name, value in asked.items())
        raise SpecError(
            f"memory ran out for a network of {settings.pool} with {told}; lower one of them"
        ) from error


def least_learned(settings: NetworkSettings) -> int:
    """Return how many numbers a network learns, at the least; no memory is taken for it."""
    width, slots = settings.width, settings.slots
    base = 2 * (settings.layers - 1) * width**2
    # What comes before the head is as wide as the base, or as the rows that `sort` has kept.
    seen = 32 * (settings.sorted_nodes // 2 - 4) if settings.pool == "sort" else width
    head = (seen + settings.head_width) * settings.head_width
    anchors = {"fixed": 1, "mixture": 4, "generated": width}[settings.anchors] * slots * width
    pool = {"diff": settings.clusters * width, "gmt": settings.seeds * width}.get(settings.pool, 0)
    for name in settings.structures:
        pool += anchors + settings.depth * width**2
        pool += settings.depth * slots * width if settings.readout == "max+weighted" else 0
        pool += slots**2 if name.startswith("learned-") else 0
    return base + head + pool


def machine_memory() -> float:
    """Return the bytes of memory of this machine; infinitely many where it does not tell."""
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError):
        return inf
    return float(pages * size) if pages > 0 else inf  # -1 for a number that is not known


def _as_usual(settings: NetworkSettings, name: str) -> NetworkSettings:
    usual = NetworkSettings.model_fields[name].default
    return settings.model_copy(update={name: min(usual, getattr(settings, name))})
