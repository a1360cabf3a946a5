"""A hash of the content of a set of graphs."""

import hashlib
from dataclasses import fields

import numpy as np
from torch import Tensor

from lfds.data.graphset import GraphSet


def content_of(graphs: GraphSet) -> str:
    """Return a hash of everything that a network can learn from."""
    digest = hashlib.sha256(repr((graphs.name, graphs.classes, graphs.label_values)).encode())
    for entry in fields(graphs):
        value = getattr(graphs, entry.name)
        # Coordinates are for drawing only: no network sees them.
        if isinstance(value, Tensor) and entry.name != "coordinates":
            digest.update(f"{entry.name} {value.dtype} {tuple(value.shape)}".encode())
            digest.update(np.ascontiguousarray(value.numpy()).data)
    return digest.hexdigest()[:24]
