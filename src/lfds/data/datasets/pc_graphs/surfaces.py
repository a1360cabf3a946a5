"""Surfaces as sets of triangles, and the functions that the built-in shapes are made with."""

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Triangles: TypeAlias = NDArray[np.float64]
"""Corners of a surface's triangles, ``[faces, 3 corners, 3 coordinates]``; z points up."""

Point: TypeAlias = tuple[float, float, float]


def loft(rings: NDArray[np.float64], *, closed: bool = True) -> Triangles:
    """Return the surface through consecutive closed rings of points.

    Args:
        rings: ``[rings, points, 3]``; points ``j`` of neighboring rings are connected.
        closed: Whether the first and the last ring are closed by triangles around their mean.
    """
    onwards = np.concatenate([rings[:, 1:], rings[:, :1]], axis=1)
    skin = np.empty((2, len(rings) - 1, rings.shape[1], 3, 3))
    skin[0, :, :, 0], skin[0, :, :, 1], skin[0, :, :, 2] = rings[:-1], onwards[:-1], rings[1:]
    skin[1, :, :, 0], skin[1, :, :, 1], skin[1, :, :, 2] = onwards[:-1], onwards[1:], rings[1:]
    if not closed:
        return skin.reshape(-1, 3, 3)
    ends = rings[[0, -1]]
    lids = np.empty((*ends.shape[:2], 3, 3))
    lids[:, :, 0], lids[:, :, 1] = ends, onwards[[0, -1]]
    lids[:, :, 2] = ends.mean(axis=1, keepdims=True)
    return np.concatenate([skin.reshape(-1, 3, 3), lids.reshape(-1, 3, 3)])


_CORNERS = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])


def box(size: Point, centre: Point = (0.0, 0.0, 0.0)) -> Triangles:
    """Return a rectangular box."""
    return move(slab(_CORNERS * size[:2], size[2]), centre)


def slab(outline: NDArray[np.float64], thickness: float) -> Triangles:
    """Return a flat plate of the given outline ``[points, 2]``, half above and half below z = 0."""
    rings = np.empty((2, len(outline), 3))
    rings[:, :, :2] = outline
    rings[0, :, 2], rings[1, :, 2] = -thickness / 2, thickness / 2
    return loft(rings)


@cache
def circle(points: int) -> NDArray[np.float64]:
    """Return evenly spaced points ``[points, 2]`` on the unit circle."""
    angle = np.arange(points) * (2 * np.pi / points)
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    around.flags.writeable = False
    return around


def lathe(
    profile: Sequence[tuple[float, float]], *, sides: int = 12, closed: bool = True
) -> Triangles:
    """Rotate a profile of (radius, height) pairs about the z axis."""
    radius, height = np.array(profile).T
    rings = np.empty((len(profile), sides, 3))
    rings[:, :, :2] = radius[:, None, None] * circle(sides)
    rings[:, :, 2] = height[:, None]
    return loft(rings, closed=closed)


def tube(path: Sequence[Point], radius: float | Sequence[float], *, sides: int = 6) -> Triangles:
    """Return a round bar along a path, with one radius or one for each point of the path."""
    points = np.array(path, dtype=np.float64)
    along = np.gradient(points, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    # Any direction across the path works, if it is the same along the whole path.
    least = np.eye(3)[np.abs(along).sum(axis=0).argmin()]
    across = np.cross(along, least)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    upright = np.cross(along, across)
    around = circle(sides)
    rings = around[:, :1] * across[:, None] + around[:, 1:] * upright[:, None]
    widths = np.broadcast_to(np.asarray(radius, dtype=np.float64), (len(points),))
    return loft(points[:, None] + rings * widths[:, None, None])


def move(triangles: Triangles, by: Point) -> Triangles:
    """Shift a surface."""
    moved: Triangles = triangles + np.asarray(by)
    return moved


def turn(
    triangles: Triangles, axis: int, degrees: float, about: Point = (0.0, 0.0, 0.0)
) -> Triangles:
    """Rotate a surface about a line parallel to one axis through the point ``about``."""
    angle = np.deg2rad(degrees)
    first, second = [0, 1, 2][axis - 2], [0, 1, 2][axis - 1]
    rotation = np.eye(3)
    rotation[[first, second], [first, second]] = np.cos(angle)
    rotation[first, second], rotation[second, first] = -np.sin(angle), np.sin(angle)
    turned: Triangles = (triangles - np.asarray(about)) @ rotation.T + np.asarray(about)
    return turned


def mirrored(triangles: Triangles, axis: int = 1) -> Triangles:
    """Return a surface together with its reflection."""
    sign = np.ones(3)
    sign[axis] = -1
    return np.concatenate([triangles, triangles * sign])


def joined(parts: Sequence[Triangles]) -> Triangles:
    """Return several surfaces as one."""
    return np.concatenate(list(parts))
