"""The structures: how the slots are arranged, and the layers that respect it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from lfds.config import registry
from lfds.nn.structures.base import Sketch, Structure, Symmetry
from lfds.nn.structures.graph import GraphStructure, LatentGraph

STRUCTURES: Mapping[str, type[Structure]] = MappingProxyType(
    {name: entry.load() for name, entry in registry.STRUCTURES.items()}
)
"""The structures by name."""

_CLASSES = {structure.__name__: structure for structure in STRUCTURES.values()}

__all__ = ["STRUCTURES", "GraphStructure", "LatentGraph", "Sketch", "Structure", "Symmetry"]
__all__ += _CLASSES


def __getattr__(name: str) -> Any:
    # Whatever the registry names can be imported from here: Image, Loop, ...
    if name in _CLASSES:
        return _CLASSES[name]
    raise AttributeError(f"module 'lfds.nn.structures' has no attribute {name!r}")
