"""Encodings cached on disk by the content of graph and settings; damaged files are ignored."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from lfds.data.atomic_io import atomic_write
from lfds.data.encodings.base import StructuralEncoding

Encoded = NDArray[np.float32]


class EncodingCache:
    """The stored results of one encoding.

    Each call of :meth:`store` adds one file and files never change, so that several processes can
    share a folder. A file is named by the SHA-256 of its bytes, which is checked on reading.

    Args:
        folder: Folder of the caches of all encodings.
        encoding: The settings; other settings have another folder.
    """

    def __init__(self, folder: str | os.PathLike[str], encoding: StructuralEncoding) -> None:
        content = {"version": encoding.version, **encoding.model_dump(mode="json")}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
        self.folder = Path(folder) / f"{encoding.kind}-{digest[:16]}"
        self.width = encoding.width

    def read(self) -> dict[str, Encoded]:
        """Return all valid encodings by the fingerprints of their graphs."""
        encoded: dict[str, Encoded] = {}
        for path in sorted(self.folder.glob("*.safetensors")):
            encoded.update(self._read(path))
        return encoded

    def store(self, encoded: Mapping[str, Encoded]) -> None:
        """Store encodings by the fingerprints of their graphs, all of them or none."""
        content = save({key: np.ascontiguousarray(rows) for key, rows in encoded.items()})
        name = hashlib.sha256(content).hexdigest()
        atomic_write(self.folder / f"{name}.safetensors", content)

    def _read(self, path: Path) -> dict[str, Encoded]:
        try:
            content = path.read_bytes()
        except OSError:
            return {}
        if hashlib.sha256(content).hexdigest() != path.stem:
            return {}
        try:
            tensors = load(content)
        except SafetensorError:
            return {}
        return {
            key: rows
            for key, rows in tensors.items()
            if rows.ndim == 2 and rows.shape[1] == self.width and rows.dtype == np.float32
        }
