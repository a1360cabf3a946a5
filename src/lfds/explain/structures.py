"""From the sketch of a structure to its drawing."""

import numpy as np

from lfds.explain.drawing import (
    Drawing,
    draw_basis,
    draw_circle,
    draw_graph,
    draw_grid,
    draw_line,
)
from lfds.nn import Structure


def draw(structure: Structure) -> Drawing:
    """Return the drawing of a structure."""
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
