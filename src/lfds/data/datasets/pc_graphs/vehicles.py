"""Airplanes and cars."""

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


def airplane(rng: Generator) -> Triangles:
    """Draw an airplane: airliner, jet, delta, glider, propeller plane or biplane."""
    length = rng.uniform(0.9, 1.5)
    radius = length * rng.uniform(0.035, 0.085)
    root = length * rng.uniform(0.13, 0.3)
    span = rng.uniform(0.4, 0.9)
    sweep = rng.uniform(-0.02, 0.5) * span
    if rng.random() < 0.2:  # a delta wing: long at the body, nothing at the tip
        root, span, sweep = length * rng.uniform(0.4, 0.6), span * 0.6, length * 0.4
    low = rng.uniform(-0.8, 0.8) * radius
    lead = length * rng.uniform(-0.02, 0.15) + root / 2
    taper = rng.uniform(0.2, 0.95)
    wing = _wing(rng, (root, root * taper), span, sweep)
    parts = [_fuselage(rng, length, radius), mirrored(move(wing, (lead, radius * 0.5, low)), 1)]
    if rng.random() < 0.12:
        upper = move(wing, (lead, 0.0, low + rng.uniform(0.15, 0.25)))
        strut = box((0.02, 0.02, 0.2), (lead - root / 2, span * 0.6, low + 0.1))
        parts.append(mirrored(joined([upper, strut]), 1))
    parts.append(_tail(rng, length, radius))
    parts.append(_engines(rng, length, radius, span, lead - sweep * 0.4))
    return joined(parts)


def _fuselage(rng: Generator, length: float, radius: float) -> Triangles:
    nose = rng.uniform(0.06, 0.25)
    tail = rng.uniform(0.2, 0.5)
    profile = [
        (radius * 0.15, -0.5),
        (radius * rng.uniform(0.4, 0.8), -0.5 + tail * 0.4),
        (radius, -0.5 + tail),
        (radius, 0.5 - nose),
        (radius * 0.7, 0.5 - nose * 0.4),
        (radius * 0.1, 0.5),
    ]
    body = turn(lathe([(r, z * length) for r, z in profile]), 1, 90)
    if rng.random() < 0.4:  # a cockpit stands out of the back
        hump = lathe([(0.02, -0.5), (0.5, -0.2), (0.5, 0.2), (0.02, 0.5)], sides=8)
        size = np.array([length * 0.2, radius * 1.2, radius * 1.5])
        parts = turn(hump, 1, 90) * size
        body = joined([body, move(parts, (length * 0.2, 0.0, radius * 0.7))])
    return body


_AEROFOIL = np.array([[0.0, 0.0], [-0.3, 0.06], [-1.0, 0.0], [-0.3, -0.06]])


def _wing(
    rng: Generator, chords: tuple[float, float], span: float, sweep: float, dihedral: float = 0.0
) -> Triangles:
    """A wing from the origin along y; the leading edge starts at x = 0 and runs backwards."""
    rise = (dihedral or rng.uniform(-0.02, 0.18)) * span
    rings = np.zeros((2, 4, 3))
    for ring, chord in zip(rings, chords, strict=True):
        ring[:, [0, 2]] = _AEROFOIL * chord
    rings[1] += (-sweep, span, rise)
    return loft(rings)


def _tail(rng: Generator, length: float, radius: float) -> Triangles:
    chord = length * rng.uniform(0.09, 0.18)
    height = length * rng.uniform(0.12, 0.26)
    back = height * rng.uniform(0.2, 0.9)
    chords = (chord, chord * rng.uniform(0.4, 0.9))
    x = -length / 2 + chord
    fin = _wing(rng, chords, height, back)
    if rng.random() < 0.15:  # two slanted fins instead of a cross
        return mirrored(move(turn(fin, 0, rng.uniform(25, 60)), (x, radius * 0.3, 0.0)), 1)
    upright = move(turn(fin, 0, 90), (x, 0.0, radius * 0.3))
    level = height if rng.random() < 0.25 else 0.0
    stabiliser = _wing(rng, chords, length * rng.uniform(0.12, 0.22), back * 0.6)
    shift = x - (back if level else 0.0)
    return joined([upright, mirrored(move(stabiliser, (shift, 0.0, level)), 1)])


def _engines(
    rng: Generator, length: float, radius: float, span: float, wing_at: float
) -> Triangles:
    kind = rng.choice(["none", "wings", "tail", "propeller"], p=[0.25, 0.4, 0.15, 0.2])
    size = radius * rng.uniform(0.35, 0.6)
    nacelle = turn(lathe([(size, -2.0 * size), (size * 1.2, 0.0), (size, 2.0 * size)]), 1, 90)
    if kind == "none":
        return nacelle[:0]
    if kind == "tail":
        return mirrored(move(nacelle, (-length * 0.33, radius * 1.5, radius * 0.5)), 1)
    if kind == "propeller":
        blades = box((0.02, length * rng.uniform(0.15, 0.35), 0.03), (length / 2, 0.0, 0.0))
        return turn(blades, 0, rng.uniform(0, 180))
    pairs = [0.4] if rng.random() < 0.7 else [0.3, 0.6]
    return joined([mirrored(move(nacelle, (wing_at, span * at, -radius * 0.7)), 1) for at in pairs])


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
