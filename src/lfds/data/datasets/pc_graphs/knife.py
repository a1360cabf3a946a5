"""Knives: a blade, a handle, perhaps a guard; folding ones stand at an angle."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from lfds.data.datasets.pc_graphs.surfaces import (
    Triangles,
    box,
    circle,
    joined,
    loft,
    move,
    slab,
    turn,
)


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
