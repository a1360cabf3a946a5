"""Structural encodings of a sharded set: computed part by part, and stored beside the parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, final

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from safetensors.numpy import save
from torch import Tensor

from lfds.data.atomic_io import atomic_write
from lfds.data.edges import Ints
from lfds.data.encodings.base import StructuralEncoding
from lfds.data.encodings.cache import EncodingCache
from lfds.data.encodings.compute import adjacencies, encode_graphs
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.shards.engines import HERE, Where, map_parts
from lfds.data.shards.folder import ShardFolder
from lfds.data.shards.mapped import Field, MappedTensors
from lfds.data.shards.sharded_set import ShardedGraphSet

_X = "x"
_FOLDER = "encodings"
_FLOAT: np.dtype[Any] = np.dtype("<f4")


@dataclass(frozen=True)
class _Task:
    """One encoding of one part, for any process.

    Attributes:
        folder: The sharded set.
        fingerprint: Of the set, so that a process does not use one that it opened before.
        part: The number of the part.
        encoding: The encoding.
        file: Where the result is stored.
    """

    folder: Path
    fingerprint: str
    part: int
    encoding: StructuralEncoding
    file: Path


def store_encodings(
    graphs: ShardedGraphSet,
    encodings: Sequence[StructuralEncoding],
    *,
    where: Where = HERE,
    progress: bool = False,
) -> int:
    """Compute the encodings of all parts that are not stored yet; return how many were computed.

    Each is one file of its own, ``encodings/NAME-SETTINGS/PART-CHECKSUM.safetensors``: it is found
    again only for the same part with the same content and the same settings. Nodes of a graph have
    the encodings that they have in any other set.

    Args:
        graphs: The set, or some of its graphs; all graphs of the folder are encoded.
        encodings: What to compute.
        where: Which processes compute.
        progress: Whether to show a progress bar on standard error.
    """
    folder = graphs.folder
    tasks = [
        _Task(folder.path.resolve(), graphs.fingerprint, part, encoding, file)
        for encoding in encodings
        for part, file in enumerate(_files(folder, encoding))
        if not _is_stored(folder, part, file, encoding.width)
    ]
    columns = (TextColumn("parts encoded"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not progress) as bar:
        shown = bar.add_task("parts", total=len(tasks))
        for file in map_parts(_store, tasks, where):
            if not file.exists():
                raise DataError(
                    "was written by another machine and is not here; the set needs to be in a "
                    "folder that all machines share",
                    source=file,
                )
            bar.advance(shown)
    return len(tasks)


def _store(task: _Task) -> Path:
    """Compute and store an encoding of a part; return the file."""
    graphs = _opened(task.folder, task.fingerprint)
    starts = graphs.folder.starts
    part = graphs[int(starts[task.part]) : int(starts[task.part + 1])]
    rows = [np.empty((0, task.encoding.width), dtype=np.float32)]
    for piece in part.pieces():
        rows += encode_graphs(adjacencies(piece), task.encoding)
    atomic_write(task.file, save({_X: np.concatenate(rows)}))
    return task.file


@lru_cache(maxsize=2)
def _opened(folder: Path, fingerprint: str) -> ShardedGraphSet:
    graphs = ShardedGraphSet(folder)
    if graphs.fingerprint != fingerprint:
        raise DataError("has changed since the command was started; start again", source=folder)
    return graphs


def _files(folder: ShardFolder, encoding: StructuralEncoding) -> list[Path]:
    home = EncodingCache(folder.path.resolve() / _FOLDER, encoding).folder
    parts = folder.manifest.parts
    return [home / f"{part.name}-{part.sha256[:16]}.safetensors" for part in parts]


def _is_stored(folder: ShardFolder, part: int, file: Path, width: int) -> bool:
    """Whether an encoding is there and has the right shape; one that has not is computed again."""
    if not file.is_file():
        return False
    try:
        _map(MappedTensors({_X: Field(_FLOAT, width)}, 1), 0, file, int(folder.nodes[part]))
    except DataError:
        return False
    return True


def _map(tensors: MappedTensors, part: int, file: Path, nodes: int) -> None:
    tensors.open(part, file, {_X: nodes})


class NodeEncoder(Protocol):
    """What computes features from labels, attributes and structure: an ``Encoder``."""

    @property
    def width(self) -> int:
        """Number of columns."""

    @property
    def edge_width(self) -> int:
        """Number of columns of the features of edges."""

    def features(self, graphs: GraphSet, structure: Tensor) -> Tensor:
        """Return the features of nodes, given their structural encodings."""

    def edge_features(self, graphs: GraphSet) -> Tensor:
        """Return the features of edges."""


@final
class ShardFeatures:
    """The features of the nodes of a sharded set, from its stored encodings.

    Args:
        encoder: Fitted; makes features of labels, attributes and structure.
        folder: The set.
        encodings: The encodings, which are stored.
    """

    def __init__(
        self, encoder: NodeEncoder, folder: ShardFolder, encodings: Sequence[StructuralEncoding]
    ) -> None:
        self._encoder, self._folder = encoder, folder
        self._stored = [_Stored(folder, encoding) for encoding in encodings]

    @property
    def width(self) -> int:
        """Number of columns."""
        return self._encoder.width

    def __call__(self, graphs: GraphSet, numbers: Ints) -> Tensor:
        """Return ``[nodes, width]`` for graphs by their numbers in the folder."""
        columns = [torch.empty(graphs.num_nodes, 0)]
        if self._stored:
            found = self._folder.locate(numbers)
            columns += [one.rows(found.part_of_node, found.nodes) for one in self._stored]
        return self._encoder.features(graphs, torch.cat(columns, dim=1))

    @property
    def edge_width(self) -> int:
        """Number of columns of the features of edges."""
        return self._encoder.edge_width

    def edge_features(self, graphs: GraphSet) -> Tensor:
        """Return ``[edges, edge_width]``."""
        return self._encoder.edge_features(graphs)


class _Stored:
    """The files of one encoding, mapped on first use."""

    def __init__(self, folder: ShardFolder, encoding: StructuralEncoding) -> None:
        self._files, self._nodes = _files(folder, encoding), folder.nodes
        self._width = encoding.width
        self._tensors = MappedTensors({_X: Field(_FLOAT, encoding.width)}, len(self._files))

    def rows(self, part: Ints, nodes: Ints) -> Tensor:
        for number in np.unique(part[~self._tensors.mapped.take(part)]).tolist():
            _map(self._tensors, number, self._files[number], int(self._nodes[number]))
        return torch.from_numpy(
            self._tensors.take(_X, self._tensors.first(_X, part) + nodes * self._width)
        )
