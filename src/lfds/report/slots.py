"""Which poolings share nodes out over slots, and what their records leave unsaid.

Reports import no torch, and so no network: the names are written here once more, and a test holds
them to those of the network.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

WITH_SLOTS = frozenset(
    {"image", "array", "sequence", "loop", "learned-spatial", "learned-spectral"}
)
LEGACY_DEFAULTS: Mapping[str, Any] = MappingProxyType({"node_norm": False, "pooled_layers": "last"})
"""What went without saying before it could be chosen."""
OF_SLOTS = ("readout", *LEGACY_DEFAULTS)
"""Settings by which records of other poolings are named as before there was a choice."""


def has_slots(pool: str) -> bool:
    """Whether a pooling is a latent structure, or several side by side."""
    return set(pool.split("+")) <= WITH_SLOTS


def fill_legacy_defaults(network: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings of a network, with what goes without saying."""
    return {**LEGACY_DEFAULTS, **network} if "slots" in network else network
