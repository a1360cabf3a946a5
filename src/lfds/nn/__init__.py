"""The pooling layer, what it is made of, and the network that poolings are compared in."""

from typing import TYPE_CHECKING, Any

from lfds.config.network import NetworkSettings
from lfds.config.registry import POOLINGS
from lfds.nn import structures
from lfds.nn.anchors import (
    ANCHORS,
    Anchors,
    FixedAnchors,
    GeneratedAnchors,
    MixtureAnchors,
    SmoothAnchors,
)
from lfds.nn.baselines.base import GraphPooling
from lfds.nn.input_checks import check_batch
from lfds.nn.models.network import GraphNetwork
from lfds.nn.ops.edges import Edges
from lfds.nn.pool import penalty
from lfds.nn.projection import REDUCTIONS, distribute, shares
from lfds.nn.structures import (
    STRUCTURES,
    GraphStructure,
    LatentGraph,
    Sketch,
    Structure,
    Symmetry,
)

if TYPE_CHECKING:
    from lfds.nn.aggregation import LFDSPool

__all__ = [
    "ANCHORS",
    "POOLINGS",
    "REDUCTIONS",
    "STRUCTURES",
    "Anchors",
    "Edges",
    "FixedAnchors",
    "GeneratedAnchors",
    "GraphNetwork",
    "GraphPooling",
    "GraphStructure",
    "LFDSPool",
    "LatentGraph",
    "MixtureAnchors",
    "NetworkSettings",
    "Sketch",
    "SmoothAnchors",
    "Structure",
    "Symmetry",
    "check_batch",
    "distribute",
    "penalty",
    "shares",
]
__all__ += (structure.__name__ for structure in STRUCTURES.values())


def __getattr__(name: str) -> Any:
    # The classes of all structures: Image, Loop, ...
    if name in structures.__all__:
        return getattr(structures, name)
    if name == "LFDSPool":  # PyG takes two seconds to import
        from lfds.nn.aggregation import LFDSPool

        return LFDSPool
    raise AttributeError(f"module 'lfds.nn' has no attribute {name!r}")
