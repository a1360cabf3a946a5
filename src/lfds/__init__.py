"""Global pooling of graphs and sets on latent fixed data structures."""

from typing import TYPE_CHECKING

from lfds.config.registry import STRUCTURES as _STRUCTURES
from lfds.lazy import lazy_names

if TYPE_CHECKING:
    from lfds import data, nn, testing
    from lfds.data import GraphSet, load_dataset
    from lfds.estimator import LFDSClassifier, LFDSRegressor, load
    from lfds.explain.atlas import atlas
    from lfds.nn import STRUCTURES, LatentGraph, LFDSPool
    from lfds.nn.structures.array import Array
    from lfds.nn.structures.graph import Loop, Sequence
    from lfds.nn.structures.image import Image
    from lfds.nn.structures.learned import LearnedGraph
    from lfds.nn.structures.spectrum import LearnedSpectrum

__version__ = "0.1.0"

_HOMES = {
    "GraphSet": "lfds.data",
    "LFDSClassifier": "lfds.estimator",
    "LFDSPool": "lfds.nn",
    "LFDSRegressor": "lfds.estimator",
    "LatentGraph": "lfds.nn",
    "STRUCTURES": "lfds.nn",
    "atlas": "lfds.explain.atlas",
    "load": "lfds.estimator",
    "load_dataset": "lfds.data",
    **dict.fromkeys(("data", "nn", "testing"), ""),
    # The class of every structure: Image, Array, Loop, ...
    **{entry.class_name: "lfds.nn" for entry in _STRUCTURES.values()},
}

__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]
    "STRUCTURES",
    "Array",
    "GraphSet",
    "Image",
    "LFDSClassifier",
    "LFDSPool",
    "LFDSRegressor",
    "LatentGraph",
    "LearnedGraph",
    "LearnedSpectrum",
    "Loop",
    "Sequence",
    "atlas",
    "data",
    "load",
    "load_dataset",
    "nn",
    "testing",
]
__all__ += (name for name in _HOMES if name not in __all__)

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
