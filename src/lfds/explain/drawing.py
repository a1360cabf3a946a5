"""How a latent structure is drawn, as plain numbers for pages and figures alike."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lfds.explain.layout import (
    align_horizontally,
    fit_to_square,
    minimize_stress,
    stress_layout,
)

if TYPE_CHECKING:
    from lfds.nn import Structure

Floats = NDArray[np.float64]

_EDGES_PER_SLOT = 3


@dataclass(frozen=True, eq=False)
class Drawing:
    """The slots of a structure in a picture that spans -1 to 1, upwards and to the right.

    Attributes:
        title: Name and size of the structure.
        note: How to read the picture; may be empty.
        positions: ``[slots, 2]``, the centre of each slot.
        size: The radius of a disc that fits into a slot.
        outlines: ``[slots, corners, 2]``; empty where slots are discs.
        label_positions: ``[slots, 2]``, where the number of a slot is written.
        edges: ``[edges, 2]``, lines between slots.
        weights: ``[edges]``, the strength of each line, from 0 to 1.
        basis: ``[slots, frequencies]``, a table drawn beside the slots; may have no columns.
    """

    title: str
    positions: Floats
    size: float
    label_positions: Floats
    note: str = ""
    outlines: Floats = field(default_factory=lambda: np.zeros((0, 0, 2)))
    edges: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    weights: Floats = field(default_factory=lambda: np.zeros(0))
    basis: Floats = field(default_factory=lambda: np.zeros((0, 0)))


def draw_structure(structure: "Structure") -> Drawing:
    """Return the drawing of a structure, by the layout that its sketch names."""
    sketch, num_slots = structure.sketch(), structure.num_slots
    matrix = np.zeros((0, 0))
    if sketch.matrix is not None:
        matrix = np.asarray(sketch.matrix.detach().cpu().double().numpy())
    match sketch.layout:
        case "grid":
            return draw_grid(*sketch.size, sketch.name)
        case "circle":
            return draw_circle(num_slots, sketch.name)
        case "line" | "boxes":
            return draw_line(num_slots, sketch.name, boxes=sketch.layout == "boxes")
        case "graph":
            return draw_graph(matrix, sketch.name)
        case "basis":
            return draw_basis(matrix, sketch.name)


def draw_grid(height: int, width: int, name: str) -> Drawing:
    """Draw slots row by row, the first row at the top."""
    row, column = np.divmod(np.arange(height * width), width)
    longest = max(height, width)
    positions = np.stack([2 * column - width + 1, height - 1 - 2 * row], axis=1) / longest
    return Drawing(
        f"{name} of {height} x {width} slots",
        positions,
        0.95 / longest,
        positions,
        outlines=_boxes(positions, 0.95 / longest, 0.95 / longest),
    )


def draw_circle(num_slots: int, name: str) -> Drawing:
    """Draw slots as sectors of a ring, clockwise from the top."""
    angle = 2 * np.pi * np.arange(num_slots) / num_slots
    half = np.pi / num_slots * 0.93
    arc = np.linspace(-half, half, int(np.ceil(half / 0.06)) + 1)  # wide sectors are curved
    outer = [_on_circle(angle + turn) for turn in arc]
    inner = [0.64 * _on_circle(angle + turn) for turn in arc[::-1]]
    return Drawing(
        f"{name} of {num_slots} slots",
        0.84 * _on_circle(angle),
        float(min(0.84 * np.sin(half), 0.17)),
        0.55 * _on_circle(angle),
        note="slot 0 is at the top, the others follow clockwise",
        outlines=np.stack(outer + inner, axis=1),
    )


def draw_line(num_slots: int, name: str, *, boxes: bool) -> Drawing:
    """Draw slots in a line; a long line is folded, and every second row runs to the left."""
    columns = int(np.ceil(np.sqrt(4 * num_slots))) if num_slots > 16 else num_slots
    row, column = np.divmod(np.arange(num_slots), columns)
    column = np.where(row % 2, columns - 1 - column, column)
    spread = 2 / max(columns, 1)
    rows = int(row.max()) + 1
    # Rows are further apart than slots: it is a line, not a grid.
    step = min(2.2 * spread, 2 / rows)
    positions = np.stack([(column + 0.5) * spread - 1, ((rows - 1) / 2 - row) * step], axis=1)
    slots = np.arange(num_slots - 1)
    return Drawing(
        f"{name} of {num_slots} slots",
        positions,
        0.42 * spread,
        positions - np.array([0, 0.75 * spread]),
        note="slot 0 is top left; the line is folded" if rows > 1 else "slot 0 is on the left",
        outlines=_boxes(positions, 0.46 * spread, 0.8 * spread)[: num_slots * boxes],
        edges=np.stack([slots, slots + 1], axis=1),
        weights=np.ones(num_slots - 1),
    )


def draw_graph(adjacency: Floats, name: str) -> Drawing:
    """Draw a graph by its strongest edges, strongly connected slots close together."""
    num_slots = len(adjacency)
    first, second = np.triu_indices(num_slots, k=1)
    weights = adjacency[first, second]
    connected = weights > 0
    edges, weights = np.stack([first, second], axis=1)[connected], weights[connected]
    positions = _weighted_layout(num_slots, edges, weights)
    kept = np.sort(np.argsort(-weights, kind="stable")[: _EDGES_PER_SLOT * num_slots])
    low, high = (weights.min(), weights.max()) if len(weights) else (0.0, 0.0)
    note = f"weights {low:.2f} to {high:.2f}" if high > low else ""
    if len(kept) < len(edges):
        note += f"; the strongest {len(kept)} of {len(edges)} edges are drawn"
    shown = (weights[kept] - low) / (high - low) if high > low else np.ones(len(kept))
    return Drawing(
        f"{name} of {num_slots} slots",
        0.95 * positions,
        min(0.08, 0.4 / np.sqrt(num_slots)),
        0.95 * positions + np.array([0, 0.06]),
        note=note,
        edges=edges[kept],
        weights=shown,
    )


def draw_basis(basis: Floats, name: str) -> Drawing:
    """Draw slots from top to bottom, each beside its row of a basis."""
    num_slots = len(basis)
    height = (np.arange(num_slots) + 0.5) * 2 / num_slots
    positions = np.stack([np.full(num_slots, -0.93), 1 - height], axis=1)
    return Drawing(
        f"{name} of {num_slots} slots",
        positions,
        0.9 / num_slots,
        positions - np.array([0.12, 0]),
        note="beside each slot is its row of the learned basis, one column for each frequency: "
        "blue above zero, orange below",
        outlines=_boxes(positions, 0.07, 0.9 / num_slots),
        basis=basis,
    )


def _on_circle(angle: Floats) -> Floats:
    return np.stack([np.sin(angle), np.cos(angle)], axis=1)


def _boxes(positions: Floats, width: float, height: float) -> Floats:
    """Rectangles around positions, given half of their width and height."""
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * (width, height)
    boxes: Floats = positions[:, None, :] + corners
    return boxes


def _weighted_layout(num_slots: int, edges: NDArray[np.int64], weights: Floats) -> Floats:
    all_pairs = num_slots * (num_slots - 1) // 2
    if len(edges) < all_pairs or num_slots < 3 or np.ptp(weights) == 0:
        return stress_layout(num_slots, edges)
    relative = (weights - weights.min()) / np.ptp(weights)
    start = np.random.default_rng(0).normal(size=(num_slots, 2))
    return fit_to_square(align_horizontally(minimize_stress(start, edges, 1.15 - relative)))
