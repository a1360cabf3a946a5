"""How a latent structure is drawn, as plain numbers: pages and figures draw from the same."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lfds.explain.layout import fitted, lay_out, majorised, upright

Floats = NDArray[np.float64]

_EDGES_PER_SLOT = 3


@dataclass(frozen=True, eq=False)
class Drawing:
    """Slots in a picture that reaches from -1 to 1, upwards and to the right.

    Attributes:
        words: What it is, in a few words.
        note: What to know about the picture, or nothing.
        places: ``[slots, 2]``, the middle of each slot.
        size: The radius of a disc that fits into a slot.
        outlines: ``[slots, corners, 2]``; where there are no corners, slots are discs.
        label_places: ``[slots, 2]``, where the number of a slot is written.
        edges: ``[edges, 2]``, lines between slots.
        weights: ``[edges]``, how strong each line is, from 0 to 1.
        basis: ``[slots, frequencies]``, a table whose rows begin at the slots; or no columns.
    """

    words: str
    places: Floats
    size: float
    label_places: Floats
    note: str = ""
    outlines: Floats = field(default_factory=lambda: np.zeros((0, 0, 2)))
    edges: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    weights: Floats = field(default_factory=lambda: np.zeros(0))
    basis: Floats = field(default_factory=lambda: np.zeros((0, 0)))


def draw_grid(height: int, width: int, name: str) -> Drawing:
    """Row after row, the first at the top."""
    row, column = np.divmod(np.arange(height * width), width)
    longest = max(height, width)
    places = np.stack([2 * column - width + 1, height - 1 - 2 * row], axis=1) / longest
    return Drawing(
        f"{name} of {height} x {width} slots",
        places,
        0.95 / longest,
        places,
        outlines=_boxes(places, 0.95 / longest, 0.95 / longest),
    )


def draw_circle(num_slots: int, name: str) -> Drawing:
    """Sectors of a ring, from the top, with the hands of a clock."""
    angle = 2 * np.pi * np.arange(num_slots) / num_slots
    half = np.pi / num_slots * 0.93
    arc = np.linspace(-half, half, int(np.ceil(half / 0.06)) + 1)  # few sectors are wide and bend
    outer = [_around(angle + turn) for turn in arc]
    inner = [0.64 * _around(angle + turn) for turn in arc[::-1]]
    return Drawing(
        f"{name} of {num_slots} slots",
        0.84 * _around(angle),
        float(min(0.84 * np.sin(half), 0.17)),
        0.55 * _around(angle),
        note="slot 0 is at the top, the others follow clockwise",
        outlines=np.stack(outer + inner, axis=1),
    )


def draw_line(num_slots: int, name: str, *, boxes: bool) -> Drawing:
    """One line; a long one is folded, from left to right and back again."""
    columns = int(np.ceil(np.sqrt(4 * num_slots))) if num_slots > 16 else num_slots
    row, column = np.divmod(np.arange(num_slots), columns)
    column = np.where(row % 2, columns - 1 - column, column)
    spread = 2 / max(columns, 1)
    rows = int(row.max()) + 1
    # Rows stand further apart than slots: it is a line, not a grid.
    step = min(2.2 * spread, 2 / rows)
    places = np.stack([(column + 0.5) * spread - 1, ((rows - 1) / 2 - row) * step], axis=1)
    slots = np.arange(num_slots - 1)
    return Drawing(
        f"{name} of {num_slots} slots",
        places,
        0.42 * spread,
        places - np.array([0, 0.75 * spread]),
        note="slot 0 is top left; the line is folded" if rows > 1 else "slot 0 is on the left",
        outlines=_boxes(places, 0.46 * spread, 0.8 * spread)[: num_slots * boxes],
        edges=np.stack([slots, slots + 1], axis=1),
        weights=np.ones(num_slots - 1),
    )


def draw_graph(adjacency: Floats, name: str) -> Drawing:
    """A graph; of many weighted edges the strongest are drawn, and near is what is strong."""
    num_slots = len(adjacency)
    first, second = np.triu_indices(num_slots, k=1)
    weights = adjacency[first, second]
    there = weights > 0
    edges, weights = np.stack([first, second], axis=1)[there], weights[there]
    places = _near_if_strong(num_slots, edges, weights)
    kept = np.sort(np.argsort(-weights, kind="stable")[: _EDGES_PER_SLOT * num_slots])
    low, high = (weights.min(), weights.max()) if len(weights) else (0.0, 0.0)
    note = f"weights {low:.2f} to {high:.2f}" if high > low else ""
    if len(kept) < len(edges):
        note += f"; the strongest {len(kept)} of {len(edges)} edges are drawn"
    shown = (weights[kept] - low) / (high - low) if high > low else np.ones(len(kept))
    return Drawing(
        f"{name} of {num_slots} slots",
        0.95 * places,
        min(0.08, 0.4 / np.sqrt(num_slots)),
        0.95 * places + np.array([0, 0.06]),
        note=note,
        edges=edges[kept],
        weights=shown,
    )


def draw_basis(basis: Floats, name: str) -> Drawing:
    """Slots from top to bottom, and beside each what it is in every frequency."""
    num_slots = len(basis)
    height = (np.arange(num_slots) + 0.5) * 2 / num_slots
    places = np.stack([np.full(num_slots, -0.93), 1 - height], axis=1)
    return Drawing(
        f"{name} of {num_slots} slots",
        places,
        0.9 / num_slots,
        places - np.array([0.12, 0]),
        note="beside each slot its row of the learned basis, a column for each frequency: "
        "blue above zero, orange below",
        outlines=_boxes(places, 0.07, 0.9 / num_slots),
        basis=basis,
    )


def _around(angle: Floats) -> Floats:
    return np.stack([np.sin(angle), np.cos(angle)], axis=1)


def _boxes(places: Floats, width: float, height: float) -> Floats:
    """Rectangles around places, given half of their width and height."""
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * (width, height)
    boxes: Floats = places[:, None, :] + corners
    return boxes


def _near_if_strong(num_slots: int, edges: NDArray[np.int64], weights: Floats) -> Floats:
    all_pairs = num_slots * (num_slots - 1) // 2
    if len(edges) < all_pairs or num_slots < 3 or np.ptp(weights) == 0:
        return lay_out(num_slots, edges)
    relative = (weights - weights.min()) / np.ptp(weights)
    start = np.random.default_rng(0).normal(size=(num_slots, 2))
    return fitted(upright(majorised(start, edges, 1.15 - relative)))
