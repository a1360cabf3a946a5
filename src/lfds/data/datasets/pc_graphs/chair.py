"""Chairs: a seat, a back, something to stand on, perhaps arms."""

import numpy as np
from numpy.random import Generator

from lfds.data.datasets.pc_graphs.furniture import four_legs, pedestal, plate_outline, side_frames
from lfds.data.datasets.pc_graphs.surfaces import (
    Triangles,
    box,
    joined,
    mirrored,
    move,
    slab,
    tube,
    turn,
)


def chair(rng: Generator) -> Triangles:
    """Draw a chair: kitchen, office, garden, bar or armchair."""
    if rng.random() < 0.1:
        return _armchair(rng)
    width = rng.uniform(0.4, 0.6)
    depth = width * rng.uniform(0.8, 1.15)
    height = rng.uniform(0.35, 0.5) if rng.random() < 0.85 else rng.uniform(0.6, 0.85)
    thickness = rng.uniform(0.02, 0.1)
    outline = plate_outline(depth, width, roundness=rng.uniform(0.0, 0.6))
    parts = [
        move(slab(outline, thickness), (0.0, 0.0, height)),
        move(_back(rng, width), (-depth / 2 * 0.95, 0.0, height)),
        _support(rng, depth, width, height),
    ]
    if rng.random() < 0.35:
        parts.append(_arms(rng, depth, width, height))
    return joined(parts)


def _support(rng: Generator, depth: float, width: float, height: float) -> Triangles:
    kind = rng.choice(["legs", "pedestal", "frames", "cantilever"], p=[0.6, 0.18, 0.1, 0.12])
    if kind == "legs":
        return four_legs(rng, depth * 0.95, width * 0.95, height)
    if kind == "pedestal":
        return pedestal(rng, width * rng.uniform(0.4, 0.6), height)
    if kind == "frames":
        return turn(side_frames(rng, width * 0.9, depth * 0.9, height), 2, 90)
    front, y = depth / 2 * 0.9, width / 2 * 0.9
    side = tube([(front, y, height), (front, y, 0.0)], 0.02)
    runner = tube([(front, y, 0.0), (-front, y, 0.0)], 0.02)
    return joined([mirrored(joined([side, runner])), tube([(-front, -y, 0), (-front, y, 0)], 0.02)])


def _back(rng: Generator, width: float) -> Triangles:
    """A back whose lower edge is at the origin, leaning away from the seat."""
    height = rng.uniform(0.3, 0.75)
    breadth = width * rng.uniform(0.75, 1.0)
    thickness = rng.uniform(0.02, 0.06)
    kind = rng.choice(["panel", "slats", "rungs"], p=[0.5, 0.25, 0.25])
    if kind == "panel":
        gap = rng.uniform(0.0, 0.3) * height
        outline = plate_outline(breadth, height - gap, roundness=rng.uniform(0.0, 0.7))
        panel = turn(turn(slab(outline, thickness), 0, 90), 2, 90)
        parts = [move(panel, (0.0, 0.0, gap + (height - gap) / 2))]
    else:
        parts = _bars(rng, kind == "slats", breadth, height)
    posts = mirrored(box((thickness, 0.03, height), (0.0, breadth / 2, height / 2)), 1)
    return turn(joined([*parts, posts]), 1, -rng.uniform(0.0, 22.0))


def _bars(rng: Generator, upright: bool, breadth: float, height: float) -> list[Triangles]:
    count = int(rng.integers(2, 7))
    bar = rng.uniform(0.02, 0.05)
    top = box((0.03, breadth, 0.06), (0.0, 0.0, height))
    if upright:
        places = np.linspace(-breadth / 2, breadth / 2, count + 2)[1:-1]
        return [top] + [box((0.02, bar, height), (0.0, y, height / 2)) for y in places]
    places = np.linspace(0.25 * height, height, count)[:-1]
    return [top] + [box((0.02, breadth, bar), (0.0, 0.0, z)) for z in places]


def _arms(rng: Generator, depth: float, width: float, height: float) -> Triangles:
    rise, bar = rng.uniform(0.15, 0.28), rng.uniform(0.02, 0.04)
    y = width / 2
    rest = box((depth, 2 * bar, bar), (0.0, y, height + rise))
    post = tube([(depth * 0.4, y, height), (depth * 0.4, y, height + rise)], bar / 2)
    return mirrored(joined([rest, post]), 1)


def _armchair(rng: Generator) -> Triangles:
    width, depth = rng.uniform(0.7, 1.1), rng.uniform(0.6, 0.9)
    seat, rise = rng.uniform(0.3, 0.45), rng.uniform(0.15, 0.3)
    arm, back = rng.uniform(0.1, 0.2), rng.uniform(0.4, 0.7)
    parts = [
        box((depth, width - 2 * arm, seat), (0.0, 0.0, seat / 2)),
        mirrored(box((depth, arm, seat + rise), (0, width / 2 - arm / 2, (seat + rise) / 2)), 1),
        turn(
            box((0.18, width, seat + back), (-depth / 2, 0.0, (seat + back) / 2)),
            1,
            -rng.uniform(0, 15),
            (-depth / 2, 0.0, seat),
        ),
    ]
    if rng.random() < 0.5:
        parts = [move(joined(parts), (0.0, 0.0, 0.12)), four_legs(rng, depth, width, 0.12)]
    return joined(parts)
