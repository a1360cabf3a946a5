"""The pooling layer, what it is made of, and the network that poolings are compared in."""

from lfds.nn.anchors import ANCHORS, Anchors, FixedAnchors, GeneratedAnchors, MixtureAnchors
from lfds.nn.checks import check_batch
from lfds.nn.classifier import GraphClassifier
from lfds.nn.edges import Edges
from lfds.nn.graph_pooling import GraphPooling
from lfds.nn.network_settings import NetworkSettings
from lfds.nn.pooling import LFDSPool, penalty
from lfds.nn.poolings import POOLINGS
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
    "GraphClassifier",
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
