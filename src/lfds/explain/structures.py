"""From a structure to its drawing: every structure is drawn as what it is."""

import numpy as np

from lfds.explain.drawing import (
    Drawing,
    draw_basis,
    draw_circle,
    draw_graph,
    draw_grid,
    draw_line,
)
from lfds.nn import (
    Array,
    GraphStructure,
    Image,
    LearnedGraph,
    LearnedSpectrum,
    Loop,
    Sequence,
    Structure,
)


def draw(structure: Structure) -> Drawing:
    """Return the drawing of a structure; slots of an unknown kind stand in line."""
    match structure:
        case Image():
            return draw_grid(structure.height, structure.width)
        case Loop():
            return draw_circle(structure.num_slots)
        case Sequence():
            return draw_line(structure.num_slots, "Sequence", boxes=False)
        case Array():
            return draw_line(structure.num_slots, "Array", boxes=True)
        case LearnedSpectrum():
            return draw_basis(_plain(structure.basis))
        case GraphStructure():
            name = "Learned graph" if isinstance(structure, LearnedGraph) else "Graph"
            return draw_graph(_plain(structure.adjacency), name)
    return draw_line(structure.num_slots, type(structure).__name__, boxes=False)


def _plain(matrix: object) -> np.ndarray:
    return np.asarray(matrix.detach().cpu().double().numpy())  # type: ignore[attr-defined]
