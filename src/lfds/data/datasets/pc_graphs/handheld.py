"""Guitars and knives."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from lfds.data.datasets.pc_graphs.surfaces import (
    Triangles,
    box,
    circle,
    joined,
    loft,
    mirrored,
    move,
    slab,
    tube,
    turn,
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


def knife(rng: Generator) -> Triangles:
    """Draw a knife: kitchen, cleaver, table, dagger, curved or folding."""
    length = rng.uniform(0.45, 0.95)
    kind = str(rng.choice(["kitchen", "cleaver", "table", "dagger", "curved"]))
    width = length * (rng.uniform(0.3, 0.5) if kind == "cleaver" else rng.uniform(0.08, 0.2))
    blade = slab(_outline(rng, kind) * (length, width), rng.uniform(0.006, 0.015))
    if kind != "cleaver" and rng.random() < 0.2:  # a folding knife, partly open
        blade = turn(blade, 2, rng.uniform(20, 110))
    parts = [blade, _handle(rng, width)]
    if rng.random() < (0.8 if kind == "dagger" else 0.2):
        parts.append(box((0.03, max(width * rng.uniform(1.4, 2.4), 0.1), 0.03)))
    return joined(parts)


def _outline(rng: Generator, kind: str) -> NDArray[np.float64]:
    """The blade from x = 0 to 1, its edge below; long edges get points to stay slender."""
    x = np.linspace(0.0, 1.0, 12)
    point = rng.uniform(0.15, 0.5)
    falling = np.clip((x - (1 - point)) / point, 0.0, 1.0) ** 2
    spine, edge = np.full(12, 0.5), np.full(12, -0.5)
    if kind == "kitchen":
        edge = -0.5 + falling
        edge[0] = -0.5
    elif kind == "cleaver":
        edge = -0.5 + rng.uniform(0.0, 0.15) * x
    elif kind == "table":
        edge, spine = -0.5 + 0.6 * falling**2, 0.5 - 0.4 * falling**2
    elif kind == "dagger":
        spine, edge = 0.5 * (1 - x) ** 0.6, -0.5 * (1 - x) ** 0.6
    else:
        bend = rng.uniform(0.5, 1.5) * x**2
        spine, edge = 0.5 + bend, -0.5 + bend + falling
    lower = np.stack([x, np.minimum(edge, spine - 0.02)], axis=1)
    return np.concatenate([lower, np.stack([x, spine], axis=1)[::-1]])


def _handle(rng: Generator, blade_width: float) -> Triangles:
    length = rng.uniform(0.25, 0.45)
    thickness = rng.uniform(0.02, 0.04)
    width = min(max(blade_width * rng.uniform(0.3, 0.5), 0.03), 0.07)
    shares = np.linspace(0.0, 1.0, 6)
    swelling = 1 + rng.uniform(-0.1, 0.35) * np.sin(np.pi * shares * rng.uniform(1.0, 3.0))
    droop = rng.uniform(-0.05, 0.1) * shares**2
    rings = np.empty((6, 8, 3))
    rings[:, :, 0] = (-length * shares)[:, None]
    rings[:, :, 1] = circle(8)[:, 0] * width * swelling[:, None] - droop[:, None]
    rings[:, :, 2] = circle(8)[:, 1] * thickness
    handle = loft(rings)
    if rng.random() < 0.3:  # rivets stand out on both sides
        pins = [(-length * share, -float(droop[2]), 0.0) for share in (0.2, 0.5, 0.8)]
        rivets = [box((0.02, 0.02, 2.6 * thickness), pin) for pin in pins]
        handle = joined([handle, *rivets])
    if rng.random() < 0.25:
        knob = box((0.04, 2.6 * width, 2.2 * thickness), (-length, -float(droop[-1]), 0.0))
        handle = joined([handle, knob])
    return move(handle, (0.0, blade_width * rng.uniform(0.0, 0.3), 0.0))
