"""Eight everyday shapes, drawn at random as surfaces: the classes of the built-in PC Graphs."""

from collections.abc import Callable, Mapping

from numpy.random import Generator

from lfds.data.shapes.airplane import airplane
from lfds.data.shapes.car import car
from lfds.data.shapes.chair import chair
from lfds.data.shapes.guitar import guitar
from lfds.data.shapes.knife import knife
from lfds.data.shapes.lamp import lamp
from lfds.data.shapes.laptop import laptop
from lfds.data.shapes.surfaces import Triangles
from lfds.data.shapes.table import table

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
