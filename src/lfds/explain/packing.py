"""Drawings of several parts put side by side in one picture, as lines of text are."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.float64]

_GAP = 1.0  # the length of an edge


def packed(parts: Sequence[Places]) -> list[Places]:
    """Move parts ``[nodes, 2]`` apart: the highest first, in lines of about the same width.

    No two of the boxes around them come closer than the length of an edge, which is one.
    """
    boxes = np.array([np.ptp(part, axis=0) for part in parts]).reshape(-1, 2) + _GAP
    width = max(float(np.sqrt(boxes.prod(axis=1).sum()) * 1.3), float(boxes[:, 0].max(initial=0)))
    moved: list[Places] = [np.empty((0, 2))] * len(parts)
    x = y = height = 0.0
    for number in np.argsort(-boxes[:, 1], kind="stable"):
        if x + boxes[number, 0] > width + 1e-9:
            x, y, height = 0.0, y - height, 0.0
        corner = np.array([x, y - boxes[number, 1]])
        moved[number] = parts[number] - parts[number].min(axis=0) + corner
        x, height = x + boxes[number, 0], max(height, float(boxes[number, 1]))
    return moved
