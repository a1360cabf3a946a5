"""Graphs, point clouds and molecules, read into a GraphSet of flat tensors."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lfds.config.encoding import EncodingSettings
    from lfds.data.batch import Batch
    from lfds.data.encodings.encoder import Encoder
    from lfds.data.errors import DataError
    from lfds.data.graphset import GraphSet
    from lfds.data.sources import load_dataset, read_any
    from lfds.data.splits import Split, read_splits, save_splits, stratified_folds

__all__ = [
    "Batch",
    "DataError",
    "Encoder",
    "EncodingSettings",
    "GraphSet",
    "Split",
    "load_dataset",
    "read_any",
    "read_splits",
    "save_splits",
    "stratified_folds",
]

_HOMES = {
    "Batch": "lfds.data.batch",
    "DataError": "lfds.data.errors",
    "Encoder": "lfds.data.encodings.encoder",
    "EncodingSettings": "lfds.config.encoding",
    "GraphSet": "lfds.data.graphset",
    "Split": "lfds.data.splits",
    "load_dataset": "lfds.data.sources",
    "read_any": "lfds.data.sources",
    "read_splits": "lfds.data.splits",
    "save_splits": "lfds.data.splits",
    "stratified_folds": "lfds.data.splits",
}


def __getattr__(name: str) -> object:
    # Imported on use: torch takes a second to import.
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(
        f"module 'lfds.data' has no attribute {name!r}; it offers {', '.join(__all__)}"
    )


def __dir__() -> list[str]:
    return sorted(__all__)
