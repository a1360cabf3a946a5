"""Node encodings: from labels, attributes and structure to features for a network."""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lfds.data.encodings.base import StructuralEncoding
from lfds.data.encodings.deepwalk import DeepWalk
from lfds.data.encodings.degree import Degree
from lfds.data.encodings.distances import Distances
from lfds.data.encodings.laplacian import Laplacian
from lfds.data.encodings.netmf import NetMF
from lfds.data.encodings.rwse import RWSE

if TYPE_CHECKING:
    from lfds.data.encodings.encoder import Encoder, EncodingSettings

__all__ = [
    "RWSE",
    "STRUCTURAL",
    "DeepWalk",
    "Degree",
    "Distances",
    "Encoder",
    "EncodingSettings",
    "Laplacian",
    "NetMF",
    "StructuralEncoding",
]

STRUCTURAL: Mapping[str, tuple[StructuralEncoding, ...]] = {
    "none": (),
    "deepwalk": (DeepWalk(),),
    "netmf": (NetMF(),),
    "rwse": (RWSE(),),
    "laplacian": (Laplacian(),),
    "degree": (Degree(),),
    "distances": (Distances(),),
}
"""Structural encodings by name, with their default settings; several are added up as tuples."""


def __getattr__(name: str) -> object:
    # The processes that encode graphs need no torch, and start three times as fast without.
    if name in {"Encoder", "EncodingSettings"}:
        return getattr(importlib.import_module("lfds.data.encodings.encoder"), name)
    raise AttributeError(
        f"module 'lfds.data.encodings' has no attribute {name!r}; it offers {', '.join(__all__)}"
    )
