"""The pooling layer and what it is made of."""

from lfds.nn.anchors import ANCHORS, Anchors, FixedAnchors, GeneratedAnchors, MixtureAnchors
from lfds.nn.checks import check_batch
from lfds.nn.pooling import LFDSPool, penalty
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
    "REDUCTIONS",
    "STRUCTURES",
    "Anchors",
    "Array",
    "FixedAnchors",
    "GeneratedAnchors",
    "GraphStructure",
    "Image",
    "LFDSPool",
    "LatentGraph",
    "LatentLayer",
    "LearnedGraph",
    "LearnedSpectrum",
    "Loop",
    "MixtureAnchors",
    "Sequence",
    "Structure",
    "Symmetry",
    "check_batch",
    "distribute",
    "penalty",
    "shares",
]
