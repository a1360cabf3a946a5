"""Eight everyday shapes, drawn at random as surfaces: the classes of the built-in PC Graphs."""

from collections.abc import Callable, Mapping

from numpy.random import Generator

from lfds.data.datasets.pc_graphs.airplane import airplane
from lfds.data.datasets.pc_graphs.car import car
from lfds.data.datasets.pc_graphs.chair import chair
from lfds.data.datasets.pc_graphs.guitar import guitar
from lfds.data.datasets.pc_graphs.knife import knife
from lfds.data.datasets.pc_graphs.lamp import lamp
from lfds.data.datasets.pc_graphs.laptop import laptop
from lfds.data.datasets.pc_graphs.surfaces import Triangles
from lfds.data.datasets.pc_graphs.table import table

SHAPES: Mapping[str, Callable[[Generator], Triangles]] = {
    "table": table,
    "airplane": airplane,
    "car": car,
    "guitar": guitar,
    "knife": knife,
    "lamp": lamp,
    "chair": chair,
    "laptop": laptop,
}
"""The shapes by name; each draws one at random, standing on z = 0 or lying around the origin."""

__all__ = ["SHAPES", "Triangles"]
