"""Laptops: two plates that share an edge."""

from numpy.random import Generator

from lfds.data.datasets.pc_graphs.furniture import plate_outline
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
