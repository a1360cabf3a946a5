"""Lamps and laptops."""

import numpy as np
from numpy.random import Generator

from lfds.data.datasets.pc_graphs.furniture import plate_outline
from lfds.data.datasets.pc_graphs.surfaces import (
    Point,
    Triangles,
    box,
    circle,
    joined,
    lathe,
    mirrored,
    move,
    slab,
    tube,
    turn,
)


def lamp(rng: Generator) -> Triangles:
    """Draw a lamp: table, floor, desk, pendant or chandelier."""
    kind = rng.choice(["table", "floor", "desk", "pendant", "arms"], p=[0.3, 0.25, 0.2, 0.15, 0.1])
    if kind == "pendant":
        drop = rng.uniform(0.3, 1.2)
        cord = tube([(0, 0, 0), (0, 0, drop)], 0.012)
        rose = lathe([(0.07, drop), (0.05, drop + 0.04)])
        return joined([_shade(rng, rng.uniform(0.15, 0.4)), cord, rose])
    if kind == "arms":
        return _chandelier(rng)
    if kind == "desk":
        return _desk_lamp(rng)
    size = rng.uniform(0.12, 0.28)
    height = rng.uniform(0.35, 0.7) if kind == "table" else rng.uniform(0.9, 1.6)
    shade = move(_shade(rng, size), (0.0, 0.0, height))
    return joined([_base(rng, size), _stem(rng, height, bulging=kind == "table"), shade])


def _shade(rng: Generator, size: float) -> Triangles:
    """A shade around the origin: cone, drum, dome or globe, open where light comes out."""
    height = size * rng.uniform(0.8, 1.8)
    kind = rng.choice(["cone", "dome", "globe"], p=[0.6, 0.22, 0.18])
    if kind == "cone":
        top = size * rng.uniform(0.25, 1.0)
        return lathe([(size, -height / 2), (top, height / 2)], closed=False)
    steps = np.linspace(0.0 if kind == "dome" else -0.48 * np.pi, 0.48 * np.pi, 6)
    profile = [(size * float(np.cos(a)), height * 0.6 * float(np.sin(a))) for a in steps]
    return lathe(profile, closed=False)


def _base(rng: Generator, size: float) -> Triangles:
    if rng.random() < 0.15:
        feet = [
            tube([(0.0, 0.0, 0.25), (size * 1.3 * x, size * 1.3 * y, 0.0)], 0.015)
            for x, y in circle(3)
        ]
        return joined(feet)
    radius = size * rng.uniform(0.4, 0.95)
    foot = lathe([(radius, 0.0), (radius, 0.02), (0.02, rng.uniform(0.025, 0.12))])
    return foot * (1, rng.uniform(0.7, 1.0), 1)


def _stem(rng: Generator, height: float, *, bulging: bool) -> Triangles:
    if bulging and rng.random() < 0.6:  # a vase
        belly, at = rng.uniform(0.05, 0.16), rng.uniform(0.25, 0.6)
        profile = [(0.04, 0.0), (belly * 0.8, 0.15), (belly, at), (0.03, 0.85), (0.015, 1.0)]
        return lathe([(r, z * height) for r, z in profile])
    curve = rng.uniform(0.0, 0.3) if rng.random() < 0.3 else 0.0
    bends = [curve * height * float(np.sin(np.pi * z)) for z in np.linspace(0, 1, 6)]
    path: list[Point] = [(x, 0.0, z) for x, z in zip(bends, np.linspace(0, height, 6), strict=True)]
    return tube(path, rng.uniform(0.01, 0.025))


def _desk_lamp(rng: Generator) -> Triangles:
    """Two arms with an elbow, and a shade that looks down."""
    lean = np.deg2rad(rng.uniform(-30, 30))
    fall = np.deg2rad(rng.uniform(10, 90))
    first, second = rng.uniform(0.3, 0.5), rng.uniform(0.25, 0.5)
    elbow = (first * float(np.sin(lean)), 0.0, first * float(np.cos(lean)))
    tip = (
        elbow[0] + second * float(np.sin(fall)),
        0.0,
        elbow[2] + second * float(np.cos(fall)) * 0.6,
    )
    size = rng.uniform(0.07, 0.14)
    shade = move(turn(_shade(rng, size), 1, rng.uniform(-40, 60)), tip)
    bar = rng.uniform(0.012, 0.022)
    arms = [tube([(0.0, 0.0, 0.0), elbow], bar), tube([elbow, tip], bar)]
    return joined([_base(rng, rng.uniform(0.14, 0.22)), *arms, shade])


def _chandelier(rng: Generator) -> Triangles:
    arms, reach = int(rng.integers(3, 7)), rng.uniform(0.3, 0.5)
    parts = [tube([(0, 0, -0.1), (0, 0, rng.uniform(0.4, 0.8))], 0.025)]
    dip = rng.uniform(0.0, 0.15)
    size = rng.uniform(0.06, 0.12)
    shade = _shade(rng, size)
    for x, y in circle(arms) * reach:
        path = [(0.0, 0.0, 0.0), (x / 2, y / 2, -dip), (float(x), float(y), 0.05)]
        parts += [tube(path, 0.015), move(shade, (x, y, 0.05 + size / 2))]
    return joined(parts)


def laptop(rng: Generator) -> Triangles:
    """Draw a laptop: open at some angle, thin or bulky, with or without what lies on it."""
    width = 1.0
    depth = rng.uniform(0.55, 0.85)
    base = rng.uniform(0.02, 0.1)
    lid = rng.uniform(0.01, 0.04)
    roundness = rng.uniform(0.0, 0.12)
    bottom = slab(plate_outline(depth, width, roundness=roundness), base)
    height = depth * rng.uniform(0.85, 1.05)
    flat = slab(plate_outline(height, width * rng.uniform(0.93, 1.0), roundness=roundness), lid)
    hinge = (-depth / 2, 0.0, base / 2)
    # The lid lies behind the base when open by 180 degrees, and on it when closed.
    behind = move(flat, (-depth / 2 - height / 2, 0.0, base / 2 + lid / 2))
    parts = [bottom, turn(behind, 1, 180 - rng.uniform(55, 165), hinge)]
    parts.extend(_details(rng, depth, width, base))
    return joined(parts)


def _details(rng: Generator, depth: float, width: float, base: float) -> list[Triangles]:
    details = []
    if rng.random() < 0.5:  # a raised keyboard
        size = (depth * rng.uniform(0.35, 0.5), width * rng.uniform(0.75, 0.9), 0.02)
        details.append(box(size, (-depth * 0.12, 0.0, base / 2 + 0.01)))
    if rng.random() < 0.4:  # hinges
        ends = [(-depth / 2, 0.25 * width, base / 2), (-depth / 2, 0.4 * width, base / 2)]
        details.append(mirrored(tube(ends, 0.02), 1))
    if rng.random() < 0.15:  # a battery that lifts the back
        size = (depth * 0.15, width * 0.7, rng.uniform(0.03, 0.08))
        details.append(box(size, (-depth * 0.45, 0.0, -base / 2 - size[2] / 2)))
    if rng.random() < 0.2:  # a cable or a mouse
        path = [(0.0, width / 2, 0.0), (0.1, width * 0.62, 0.0), (0.3, width * 0.68, -base / 2)]
        details += [tube(path, 0.012), box((0.12, 0.07, 0.05), (0.36, width * 0.69, -base / 2))]
    return details
