"""A hash of everything in a set of graphs that could be learned from."""

import hashlib
from dataclasses import fields

import numpy as np
from torch import Tensor

from lfds.data.graphset import GraphSet


def content_of(graphs: GraphSet) -> str:
    """Return the hash of everything a network could learn from."""
    digest = hashlib.sha256(repr((graphs.name, graphs.classes, graphs.label_values)).encode())
    for entry in fields(graphs):
        value = getattr(graphs, entry.name)
        # Coordinates are for drawing: no network sees them.
        if isinstance(value, Tensor) and entry.name != "coordinates":
            digest.update(f"{entry.name} {value.dtype} {tuple(value.shape)}".encode())
            digest.update(np.ascontiguousarray(value.numpy()).data)
    return digest.hexdigest()[:24]
