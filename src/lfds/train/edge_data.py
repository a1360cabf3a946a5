"""What is said of edge data that a network does not use."""

import warnings

from lfds.config.network import NetworkSettings
from lfds.config.registry import BASES


class UnusedEdgesWarning(UserWarning):
    """Edges have labels or attributes, and the base cannot use them."""


def warn_of_unused_edges(network: NetworkSettings, name: str, *, edge_data: bool) -> None:
    """Warn if edge data of a set would be used, but not by this base.

    Args:
        network: The network.
        name: Name of the set.
        edge_data: Whether its edges have labels or attributes.
    """
    if edge_data and network.edge_features and not network.uses_edges:
        able = ", ".join(base for base, entry in BASES.items() if entry.uses_edges)
        warnings.warn(
            f"{name}: the base {network.base!r} does not use labels and attributes of edges, which "
            f"are ignored; {able} do",
            UnusedEdgesWarning,
            stacklevel=2,
        )
