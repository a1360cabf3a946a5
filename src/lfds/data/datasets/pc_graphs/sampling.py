"""Points on a surface, as many on each triangle as its area deserves."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from lfds.data.datasets.pc_graphs.surfaces import Triangles


def triangle_areas(triangles: Triangles) -> NDArray[np.float64]:
    """Area of each triangle."""
    first, second = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    areas: NDArray[np.float64] = np.linalg.norm(np.cross(first, second), axis=1) / 2
    return areas


def sample_surface(triangles: Triangles, count: int, rng: Generator) -> NDArray[np.float64]:
    """Draw ``count`` points ``[count, 3]`` evenly from a surface whose area is not zero."""
    reach = triangle_areas(triangles).cumsum()
    # side="right" never lands on a triangle without area, whose share of the line is a point.
    chosen = np.searchsorted(reach, rng.random(count) * reach[-1], side="right")
    corners = triangles[np.minimum(chosen, len(reach) - 1)]
    corner, first, second = corners[:, 0], corners[:, 1], corners[:, 2]
    along, across = rng.random((2, count, 1))
    # Folding the far half of the parallelogram back keeps the density even on the triangle.
    beyond = along + across > 1
    along, across = np.where(beyond, 1 - along, along), np.where(beyond, 1 - across, across)
    points: NDArray[np.float64] = corner + along * (first - corner) + across * (second - corner)
    return points
