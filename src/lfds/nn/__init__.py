"""The pooling layer, what it is made of, and the network that poolings are compared in."""

from lfds.config.network import NetworkSettings
from lfds.nn.anchors import ANCHORS, Anchors, FixedAnchors, GeneratedAnchors, MixtureAnchors
from lfds.nn.baselines.base import GraphPooling
from lfds.nn.input_checks import check_batch
from lfds.nn.models.network import GraphNetwork
from lfds.nn.models.poolings import POOLINGS
from lfds.nn.ops.edges import Edges
from lfds.nn.pool import LFDSPool, penalty
from lfds.nn.projection import REDUCTIONS, distribute, shares
from lfds.nn.structures import (
    STRUCTURES,
    Array,
    GraphStructure,
    Image,
    LatentGraph,
    LatentLayer,
    LearnedGraph,
    LearnedSpectrum,
    Loop,
    Sequence,
    Structure,
    Symmetry,
)

__all__ = [
    "ANCHORS",
    "POOLINGS",
    "REDUCTIONS",
    "STRUCTURES",
    "Anchors",
    "Array",
    "Edges",
    "FixedAnchors",
    "GeneratedAnchors",
    "GraphNetwork",
    "GraphPooling",
    "GraphStructure",
    "Image",
    "LFDSPool",
    "LatentGraph",
    "LatentLayer",
    "LearnedGraph",
    "LearnedSpectrum",
    "Loop",
    "MixtureAnchors",
    "NetworkSettings",
    "Sequence",
    "Structure",
    "Symmetry",
    "check_batch",
    "distribute",
    "penalty",
    "shares",
]
