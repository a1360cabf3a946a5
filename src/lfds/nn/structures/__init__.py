"""The structures: how the slots are arranged, and the layers that respect it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from lfds.nn.structures.array import Array
from lfds.nn.structures.base import LatentLayer, Structure, Symmetry
from lfds.nn.structures.graph import LatentGraph, Loop, Sequence
from lfds.nn.structures.image import Image
from lfds.nn.structures.learned import LearnedGraph
from lfds.nn.structures.spatial import GraphStructure
from lfds.nn.structures.spectrum import LearnedSpectrum

STRUCTURES: Mapping[str, Callable[[], Structure]] = MappingProxyType(
    {
        "image": Image,
        "array": Array,
        "sequence": Sequence,
        "loop": Loop,
        "learned-spatial": LearnedGraph,
        "learned-spectral": LearnedSpectrum,
    }
)

__all__ = [
    "STRUCTURES",
    "Array",
    "GraphStructure",
    "Image",
    "LatentGraph",
    "LatentLayer",
    "LearnedGraph",
    "LearnedSpectrum",
    "Loop",
    "Sequence",
    "Structure",
    "Symmetry",
]
