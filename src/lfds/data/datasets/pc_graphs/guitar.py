"""Guitars: a waisted body, a neck, a head."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from lfds.data.datasets.pc_graphs.surfaces import (
    Triangles,
    box,
    circle,
    joined,
    mirrored,
    move,
    slab,
    tube,
)


def guitar(rng: Generator) -> Triangles:
    """Draw a guitar: acoustic with a deep body, or electric, thin and perhaps with horns."""
    electric = rng.random() < 0.5
    length = rng.uniform(0.38, 0.52)
    width = length * rng.uniform(0.68, 0.9)
    depth = rng.uniform(0.03, 0.06) if electric else rng.uniform(0.09, 0.16)
    outline = _pointed(rng) if electric and rng.random() < 0.25 else _waisted(rng, electric)
    body = slab(outline * (length / 2, width / 2), depth)
    reach = rng.uniform(0.4, 0.62)
    neck_width = rng.uniform(0.045, 0.075)
    start = length * rng.uniform(0.1, 0.4)
    neck_length = length / 2 + reach - start
    top = depth / 2 + 0.01
    neck = box(
        (neck_length, neck_width, rng.uniform(0.02, 0.04)), (start + neck_length / 2, 0, top)
    )
    parts = [body, neck, move(_head(rng, neck_width), (length / 2 + reach, 0.0, top))]
    if rng.random() < 0.7:
        parts.append(box((0.03, width * 0.35, 0.02), (-length * 0.25, 0.0, top)))
    if rng.random() < 0.2:  # a strap from the body to the head
        parts.append(_strap(rng, -length / 2, length / 2 + reach))
    return joined(parts)


def _waisted(rng: Generator, electric: bool) -> NDArray[np.float64]:
    """The figure of eight, in a square of side 2; an electric one may be cut away at the neck."""
    angle = np.linspace(0.0, 2 * np.pi, 36, endpoint=False)
    waist = rng.uniform(0.12, 0.35)
    upper = rng.uniform(0.65, 0.95)
    x, y = np.cos(angle), np.sin(angle)
    breadth = np.where(x > 0, 1 - (1 - upper) * np.clip(3 * x, 0, 1), 1.0)
    narrowing = 1 - waist * np.exp(-(((x - 0.15) / 0.25) ** 2))
    outline = np.stack([x, np.sign(y) * np.abs(y) ** 0.8 * breadth * narrowing], axis=1)
    if electric or rng.random() < 0.25:
        cut = np.exp(-(((angle - rng.uniform(0.3, 0.6)) / 0.22) ** 2))
        if electric and rng.random() < 0.6:
            cut += np.exp(-(((2 * np.pi - angle - rng.uniform(0.3, 0.6)) / 0.22) ** 2))
        outline *= (1 - rng.uniform(0.15, 0.4) * cut)[:, None]
    return outline


def _pointed(rng: Generator) -> NDArray[np.float64]:
    """A body shaped as a star or an arrow."""
    corners = circle(5 if rng.random() < 0.5 else 6)
    spikes = np.repeat(corners, 2, axis=0)
    spikes[1::2] = (corners + np.roll(corners, -1, axis=0)) / 2 * rng.uniform(0.5, 0.8)
    return spikes * (1.0, 1.2)


def _head(rng: Generator, neck_width: float) -> Triangles:
    length, width = rng.uniform(0.1, 0.17), neck_width * rng.uniform(1.2, 2.0)
    outline = np.array([[0, -neck_width / 2], [length * 0.3, -width / 2], [length, -width * 0.4]])
    plate = slab(np.concatenate([outline, outline[::-1] * (1, -1)]), 0.025)
    pegs = [
        mirrored(tube([(x, width * 0.4, 0.0), (x, width * 0.8, 0.0)], 0.008), 1)
        for x in np.linspace(0.3, 0.9, 3) * length
    ]
    return joined([plate, *pegs]) if rng.random() < 0.8 else plate


def _strap(rng: Generator, tail: float, head: float) -> Triangles:
    along = np.linspace(0.0, np.pi, 9)
    sag = rng.uniform(0.25, 0.45)
    middle, half = (head * 0.6 + tail) / 2, (head * 0.6 - tail) / 2
    path = [(middle - half * float(np.cos(a)), sag * float(np.sin(a)), -0.03) for a in along]
    return tube(path, 0.012, sides=4)
