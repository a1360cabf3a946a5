"""Node encodings: from labels, attributes and structure to features for a network."""

import importlib
from typing import TYPE_CHECKING

from lfds.data.encodings.base import StructuralEncoding
from lfds.data.encodings.deepwalk import DeepWalk
from lfds.data.encodings.degree import Degree
from lfds.data.encodings.distances import Distances
from lfds.data.encodings.laplacian import Laplacian
from lfds.data.encodings.netmf import NetMF
from lfds.data.encodings.rwse import RWSE

if TYPE_CHECKING:
    from lfds.config.encoding import EncodingSettings
    from lfds.data.encodings.encoder import Encoder

__all__ = [
    "RWSE",
    "DeepWalk",
    "Degree",
    "Distances",
    "Encoder",
    "EncodingSettings",
    "Laplacian",
    "NetMF",
    "StructuralEncoding",
]


def __getattr__(name: str) -> object:
    # The processes that encode graphs need no torch, and start three times as fast without.
    homes = {"Encoder": "lfds.data.encodings.encoder", "EncodingSettings": "lfds.config.encoding"}
    if name in homes:
        return getattr(importlib.import_module(homes[name]), name)
    raise AttributeError(
        f"module 'lfds.data.encodings' has no attribute {name!r}; it offers {', '.join(__all__)}"
    )
