"""Memory for networks: checked before one is built, and explained when it runs out."""

from collections.abc import Iterator
from contextlib import contextmanager

from lfds.config.budget import over_budget
from lfds.config.messages import SpecError
from lfds.config.registry import STRUCTURES
from lfds.data.graphset import GraphSet
from lfds.nn import GraphNetwork, NetworkSettings

BYTES_PER_PARAMETER = 4 * 4
"""In float32, four times: the weights, their gradients, and the two moments of Adam."""

_SIZES = ("width", "layers", "head_width", "slots", "depth", "clusters", "seeds", "sorted_nodes")


def build_network(
    features: int,
    outputs: int,
    settings: NetworkSettings,
    *,
    edge_features: int = 0,
    train: GraphSet | None = None,
) -> GraphNetwork:
    """Return a new network, or raise a SpecError if there is not enough memory for it.

    Args:
        features: Number of features of a node.
        outputs: Number of outputs.
        settings: Everything else.
        edge_features: Number of features of an edge.
        train: The training graphs, whose degrees ``pna`` scales by.
    """
    check_memory(settings)
    with memory_errors_explained(settings):
        network = GraphNetwork(features, outputs, settings, edge_channels=edge_features)
    if train is not None and settings.base == "pna":
        network.set_degrees(train.degrees)
    return network


def check_memory(settings: NetworkSettings, available: float | None = None) -> None:
    """Raise a SpecError if a network cannot be trained in the memory that may be used.

    Args:
        settings: The network.
        available: Bytes of memory; :func:`lfds.config.budget.memory_budget` by default.
    """
    missing = over_budget(min_bytes(settings), available)
    if missing is None:
        return
    largest = min(_SIZES, key=lambda name: min_bytes(_with_default(settings, name)))
    raise SpecError(
        f"{largest}: {getattr(settings, largest)} makes a network that, to be trained, {missing}; "
        f"choose a smaller one"
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
        known = ("can't allocate memory", "multiplication overflow")
        if not (isinstance(error, MemoryError) or any(text in str(error) for text in known)):
            raise
        sizes = {name: getattr(settings, name) for name in ("width", "head_width", "slots")}
        if batch_size is not None:
            sizes["batch_size"] = batch_size
        listed = ", ".join(f"{name} {value}" for name, value in sizes.items())
        raise SpecError(
            f"memory ran out for a network of {settings.pool} with {listed}; lower one of them"
        ) from error


def min_bytes(settings: NetworkSettings) -> int:
    """Return a lower bound of the memory that training a network takes."""
    return BYTES_PER_PARAMETER * min_parameters(settings) + modes_bytes(settings)


def modes_bytes(settings: NetworkSettings) -> int:
    """Return the memory of what smooth anchors vary along.

    There are as many modes as slots, found in double precision.
    """
    fixed = [name for name in settings.structures if not name.startswith("learned-")]
    return 8 * settings.slots**2 if fixed and settings.anchors == "smooth" else 0


def min_parameters(settings: NetworkSettings) -> int:
    """Return a lower bound of the number of parameters of a network, without building it."""
    width, slots = settings.width, settings.slots
    base = (2 if settings.base == "spatial" else 1) * (settings.layers - 1) * width**2
    # The input of the head is as wide as the base, or as the rows that `sort` keeps.
    pooled = 32 * (settings.sorted_nodes // 2 - 4) if settings.pool == "sort" else width
    head = (pooled + settings.head_width) * settings.head_width
    anchors = {"mixture": 4, "generated": width}.get(settings.anchors, 1) * slots * width
    pool = {"diff": settings.clusters * width, "gmt": settings.seeds * width}.get(settings.pool, 0)
    for name in STRUCTURES.keys() & set(settings.structures):  # controls may have fewer slots
        pool += anchors + settings.depth * width**2
        pool += settings.depth * slots * width if settings.readout == "max+weighted" else 0
        pool += slots**2 if STRUCTURES[name].learned else 0
    return base + head + pool


def _with_default(settings: NetworkSettings, name: str) -> NetworkSettings:
    default = NetworkSettings.model_fields[name].default
    return settings.model_copy(update={name: min(default, getattr(settings, name))})
