"""What befalls a shape before it is a cloud: stretched, bent, half hidden, noisy."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from lfds.data.datasets.pc_graphs.sampling import sample_surface
from lfds.data.datasets.pc_graphs.surfaces import Triangles


def stretched(triangles: Triangles, rng: Generator, strength: float) -> Triangles:
    """Scale the three axes apart, by factors with ``strength`` as spread of their logarithm."""
    return triangles * np.exp(rng.normal(0.0, strength, 3))


def bent(points: NDArray[np.float64], rng: Generator, strength: float) -> NDArray[np.float64]:
    """Bend a shape along its longest axis, by up to ``strength`` radians from end to end."""
    low, high = points.min(axis=0), points.max(axis=0)
    longest = int((high - low).argmax())
    sideways = (longest + int(rng.integers(1, 3))) % 3
    span = high[longest] - low[longest]
    angle = rng.uniform(-strength, strength)
    if abs(angle) < 1e-6:
        return points
    radius = span / angle
    along = (points[:, longest] - (low + high)[longest] / 2) / radius
    away = points[:, sideways] - (low + high)[sideways] / 2 + radius
    curved = points.copy()
    curved[:, longest] = away * np.sin(along)
    curved[:, sideways] = away * np.cos(along) - radius
    return curved


def scanned(
    triangles: Triangles, count: int, rng: Generator, *, hidden: float, noise: float, bend: float
) -> NDArray[np.float64]:
    """Draw ``count`` points as a scanner would see them.

    Args:
        triangles: The surface.
        count: Number of points.
        rng: Source of randomness.
        hidden: Largest share of the surface that may be out of sight, on one side.
        noise: Spread of the error of each point, relative to the size of the shape.
        bend: Largest bend from end to end, in radians.
    """
    # Half of the scans are whole, the others lose up to `hidden` of the surface.
    lost = max(0.0, rng.uniform(-hidden, hidden))
    candidates = bent(sample_surface(triangles, round(count / (1 - lost)), rng), rng, bend)
    direction = rng.normal(size=3)
    nearest = np.argsort(-(candidates @ direction), kind="stable")[:count]
    points = candidates[np.sort(nearest)]
    points -= points.mean(axis=0)
    points /= np.sqrt((points**2).sum(axis=1).mean())
    return points + rng.normal(0.0, noise, points.shape)
