"""Tables and chairs."""

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
    move,
    slab,
    tube,
    turn,
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


def table(rng: Generator) -> Triangles:
    """Draw a table: dining, coffee, bistro, desk or trestle."""
    length = rng.uniform(0.7, 1.9)
    width = length * rng.uniform(0.4, 1.0)
    height = rng.uniform(0.35, 1.0)
    thickness = rng.uniform(0.03, 0.1)
    roundness = 1.0 if rng.random() < 0.3 else rng.uniform(0.0, 0.3)
    top = slab(plate_outline(length, width, roundness=roundness), thickness)
    parts = [move(top, (0.0, 0.0, height)), _table_support(rng, length, width, height, roundness)]
    if rng.random() < 0.25:
        level = height * rng.uniform(0.15, 0.45)
        outline = plate_outline(length * 0.8, width * 0.8, roundness=roundness)
        parts.append(move(slab(outline, 0.04), (0.0, 0.0, level)))
    return joined(parts)


def _table_support(
    rng: Generator, length: float, width: float, height: float, roundness: float
) -> Triangles:
    # A round top has no corners: its legs stand further in.
    inset = 0.7 if roundness > 0.5 else 0.95
    kind = rng.choice(["legs", "pedestal", "frames", "drawers"], p=[0.5, 0.2, 0.18, 0.12])
    if kind == "legs":
        return four_legs(rng, length * inset, width * inset, height)
    if kind == "pedestal":
        return pedestal(rng, min(length, width) * rng.uniform(0.25, 0.4), height)
    if kind == "frames":
        return side_frames(rng, length * inset, width * inset, height)
    return _drawers(rng, length * inset, width * inset, height)


def _drawers(rng: Generator, length: float, width: float, height: float) -> Triangles:
    breadth = length * rng.uniform(0.18, 0.3)
    depth = height * rng.uniform(0.4, 1.0)
    centre = (length / 2 - breadth / 2, 0.0, height - depth / 2)
    block = box((breadth, width * 0.9, depth), centre)
    if rng.random() < 0.5:
        return (
            mirrored(block, 0)
            if depth > 0.7 * height
            else joined([mirrored(block, 0), four_legs(rng, length, width, height)])
        )
    far = mirrored(box((0.05, 0.05, height), (-length / 2 + 0.05, width * 0.42, height / 2)), 1)
    near = mirrored(box((0.05, 0.05, height), (length / 2 - 0.05, width * 0.42, height / 2)), 1)
    return joined([block, far, near])


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
        _chair_support(rng, depth, width, height),
    ]
    if rng.random() < 0.35:
        parts.append(_arms(rng, depth, width, height))
    return joined(parts)


def _chair_support(rng: Generator, depth: float, width: float, height: float) -> Triangles:
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
