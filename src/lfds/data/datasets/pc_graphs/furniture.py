"""Parts that tables and chairs share: outlines of plates, and what plates stand on."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from lfds.data.datasets.pc_graphs.surfaces import (
    Triangles,
    box,
    circle,
    joined,
    lathe,
    mirrored,
    tube,
)


def plate_outline(length: float, width: float, *, roundness: float) -> NDArray[np.float64]:
    """A rectangle whose corners are rounded, by a superellipse: 0 is a rectangle, 1 an ellipse."""
    around = circle(20)
    power = 0.12 + 0.88 * roundness
    bulged = np.sign(around) * np.abs(around) ** power
    outline: NDArray[np.float64] = bulged * np.array([length / 2, width / 2])
    return outline


def four_legs(rng: Generator, length: float, width: float, height: float) -> Triangles:
    """Legs at the corners, straight or splayed, tapered, perhaps tied by stretchers."""
    thickness = rng.uniform(0.02, 0.06)
    foot = thickness * rng.uniform(0.5, 1.0)
    splay = rng.uniform(0.0, 0.18) if rng.random() < 0.5 else 0.0
    x, y = length / 2 - thickness, width / 2 - thickness
    leg = tube([(x, y, height), (x + splay, y + splay, 0.0)], [thickness, foot])
    legs = [mirrored(mirrored(leg, 0), 1)]
    if rng.random() < 0.4:
        level = height * rng.uniform(0.1, 0.5)
        legs.append(mirrored(box((2 * x, thickness, thickness), (0.0, y, level)), 1))
        if rng.random() < 0.6:
            legs.append(mirrored(box((thickness, 2 * y, thickness), (x, 0.0, level)), 0))
    return joined(legs)


def pedestal(rng: Generator, reach: float, height: float) -> Triangles:
    """One column on a disc or on a star of feet."""
    column = rng.uniform(0.03, 0.09)
    swelling = column * rng.uniform(0.8, 2.2)
    post = lathe([(column, 0.0), (swelling, height * rng.uniform(0.2, 0.5)), (column, height)])
    if rng.random() < 0.45:
        disc = lathe([(reach, 0.0), (reach * 0.9, 0.04), (column, rng.uniform(0.05, 0.12))])
        return joined([post, disc])
    feet = int(rng.integers(3, 6))
    lift = rng.uniform(0.0, 0.15)
    star = [
        tube([(0.0, 0.0, lift + 0.05), (reach * x, reach * y, 0.0)], [0.05, 0.03])
        for x, y in circle(feet)
    ]
    return joined([post, *star])


def side_frames(rng: Generator, length: float, width: float, height: float) -> Triangles:
    """A panel or a closed frame under either end."""
    x = length * rng.uniform(0.32, 0.48)
    if rng.random() < 0.5:
        return mirrored(box((0.05, width * rng.uniform(0.6, 0.95), height), (x, 0, height / 2)), 0)
    y, bar = width * rng.uniform(0.35, 0.48), rng.uniform(0.02, 0.045)
    frame = [
        mirrored(box((bar, bar, height), (x, y, height / 2)), 1),
        box((bar, 2 * y, bar), (x, 0.0, bar / 2)),
        box((bar, 2 * y, bar), (x, 0.0, height - bar / 2)),
    ]
    return mirrored(joined(frame), 0)
