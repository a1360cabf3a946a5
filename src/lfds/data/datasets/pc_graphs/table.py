"""Tables: a plate on legs, on a column, on panels or on drawers."""

from numpy.random import Generator

from lfds.data.datasets.pc_graphs.furniture import four_legs, pedestal, plate_outline, side_frames
from lfds.data.datasets.pc_graphs.surfaces import Triangles, box, joined, mirrored, move, slab


def table(rng: Generator) -> Triangles:
    """Draw a table: dining, coffee, bistro, desk or trestle."""
    length = rng.uniform(0.7, 1.9)
    width = length * rng.uniform(0.4, 1.0)
    height = rng.uniform(0.35, 1.0)
    thickness = rng.uniform(0.03, 0.1)
    roundness = 1.0 if rng.random() < 0.3 else rng.uniform(0.0, 0.3)
    top = slab(plate_outline(length, width, roundness=roundness), thickness)
    parts = [move(top, (0.0, 0.0, height)), _support(rng, length, width, height, roundness)]
    if rng.random() < 0.25:
        level = height * rng.uniform(0.15, 0.45)
        outline = plate_outline(length * 0.8, width * 0.8, roundness=roundness)
        parts.append(move(slab(outline, 0.04), (0.0, 0.0, level)))
    return joined(parts)


def _support(
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
