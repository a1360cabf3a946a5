"""Global pooling of graphs and sets on latent fixed data structures."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lfds import data, nn, testing
    from lfds.data import GraphSet, load_dataset
    from lfds.estimator import LFDSClassifier, LFDSRegressor, load
    from lfds.explain.atlas import atlas
    from lfds.nn import (
        STRUCTURES,
        Array,
        Image,
        LatentGraph,
        LearnedGraph,
        LearnedSpectrum,
        LFDSPool,
        Loop,
        Sequence,
    )

__version__ = "0.1.0"

__all__ = [
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

_MODULES = {"data", "nn", "testing"}
_HOMES = {
    "GraphSet": "lfds.data",
    "LFDSClassifier": "lfds.estimator",
    "LFDSRegressor": "lfds.estimator",
    "atlas": "lfds.explain.atlas",
    "load": "lfds.estimator",
    "load_dataset": "lfds.data",
}


def __getattr__(name: str) -> object:
    # torch takes a second to import; whoever only asks for help or a version does not wait for it.
    if name in _MODULES:
        return importlib.import_module(f"lfds.{name}")
    if name in __all__:
        return getattr(importlib.import_module(_HOMES.get(name, "lfds.nn")), name)
    raise AttributeError(f"module 'lfds' has no attribute {name!r}; it offers {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
