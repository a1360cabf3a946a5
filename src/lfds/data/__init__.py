"""Graphs, point clouds and molecules, read into a GraphSet of flat tensors."""

from typing import TYPE_CHECKING

from lfds.lazy import lazy_names

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

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
