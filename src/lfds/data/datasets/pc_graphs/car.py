"""Cars: a body with a cabin on four wheels."""

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from lfds.data.datasets.pc_graphs.surfaces import (
    Triangles,
    box,
    joined,
    lathe,
    loft,
    mirrored,
    move,
    turn,
)

# Half profiles seen from the left, as (share of length, share of height); the front is at 1.
_PROFILES = {
    "sedan": [(0, 0.35), (0.02, 0.6), (0.17, 0.66), (0.3, 1), (0.55, 1), (0.7, 0.62), (0.97, 0.5)],
    "hatchback": [(0, 0.4), (0.02, 0.6), (0.1, 0.95), (0.5, 1), (0.7, 0.62), (0.97, 0.5)],
    "van": [(0, 0.3), (0, 0.95), (0.05, 1), (0.75, 1), (0.92, 0.6), (1, 0.45)],
    "pickup": [(0, 0.35), (0, 0.6), (0.4, 0.6), (0.42, 1), (0.62, 1), (0.72, 0.62), (1, 0.55)],
    "sports": [(0, 0.45), (0.03, 0.7), (0.2, 0.8), (0.38, 1), (0.5, 1), (0.68, 0.6), (0.98, 0.35)],
    "old-timer": [(0, 0.3), (0.05, 0.5), (0.1, 1), (0.5, 1), (0.53, 0.6), (0.9, 0.58), (0.93, 0.3)],
}


def car(rng: Generator) -> Triangles:
    """Draw a car: sedan, hatchback, van, pickup, sports car or old-timer."""
    kind = str(rng.choice(list(_PROFILES)))
    length = rng.uniform(0.9, 1.25)
    height = length * rng.uniform(0.2, 0.34) * (1.3 if kind == "van" else 1.0)
    width = length * rng.uniform(0.34, 0.46)
    wheel = length * rng.uniform(0.055, 0.095)
    floor = wheel * rng.uniform(0.5, 1.1)
    body = move(_body(rng, kind, (length, width, height)), (-length / 2, 0.0, floor))
    axles = (length * rng.uniform(0.27, 0.36), -length * rng.uniform(0.25, 0.36))
    parts = [body, *(_wheels(x, width, wheel) for x in axles)]
    parts.extend(_extras(rng, (length, width, height + floor)))
    return joined(parts)


def _body(rng: Generator, kind: str, size: tuple[float, float, float]) -> Triangles:
    length, width, height = size
    upper = np.array(_PROFILES[kind]) + rng.normal(0.0, 0.025, (len(_PROFILES[kind]), 2))
    outline = np.concatenate([upper, [[1.0, 0.12], [0.92, 0.0], [0.05, 0.0]]]) * (length, height)
    # The cabin leans inwards above the belt line.
    lean = rng.uniform(0.1, 0.35) * np.clip(outline[:, 1] / height - 0.6, 0.0, 1.0)
    return loft(np.stack([_side(outline, width, lean, sign) for sign in (-1.0, 1.0)]))


def _side(
    outline: NDArray[np.float64], width: float, lean: NDArray[np.float64], sign: float
) -> NDArray[np.float64]:
    return np.stack([outline[:, 0], sign * width * (0.5 - lean), outline[:, 1]], axis=1)


def _wheels(x: float, width: float, radius: float) -> Triangles:
    tyre = lathe([(radius, -0.35 * radius), (radius, 0.35 * radius)], sides=10)
    return mirrored(move(turn(tyre, 0, 90), (x, width / 2, radius)), 1)


def _extras(rng: Generator, size: tuple[float, float, float]) -> list[Triangles]:
    length, width, height = size
    extras = []
    if rng.random() < 0.25:  # a spoiler
        extras.append(box((0.06, width * 0.9, 0.015), (-length * 0.46, 0.0, height * 0.9)))
    if rng.random() < 0.5:  # mirrors
        extras.append(
            mirrored(box((0.03, 0.05, 0.03), (length * 0.15, width * 0.52, height * 0.65)))
        )
    if rng.random() < 0.15:  # a rack
        extras.append(box((length * 0.3, width * 0.6, 0.03), (-length * 0.1, 0.0, height * 1.02)))
    return extras
