"""The built-in dataset PC Graphs: random shapes, sampled like scans, as graphs of neighbors."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator
from pydantic import Field, NonNegativeFloat, PositiveInt

from lfds.data.datasets.pc_graphs.devices import lamp, laptop
from lfds.data.datasets.pc_graphs.furniture import chair, table
from lfds.data.datasets.pc_graphs.handheld import guitar, knife
from lfds.data.datasets.pc_graphs.surfaces import Triangles
from lfds.data.datasets.pc_graphs.vehicles import airplane, car
from lfds.data.readers.clouds import CloudGraphs, CloudSettings, Points, graphs_of_clouds
from lfds.data.readers.meshes import sample_surface
from lfds.seeds import seed_for

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
"""The classes: functions that draw a random shape, standing on z = 0 or around the origin."""


class PCGraphsSettings(CloudSettings):
    """How many shapes are drawn, and how they are distorted.

    Attributes:
        graphs_per_class: Number of shapes of each of the eight classes.
        stretch: Standard deviation of the logarithm by which each axis is scaled.
        bend: Largest bend from end to end, in radians.
        hidden: Largest share of a shape that is missing.
        noise: Standard deviation of the error of each point, relative to the size of the shape.
    """

    graphs_per_class: PositiveInt = 500
    stretch: NonNegativeFloat = 0.15
    bend: NonNegativeFloat = 0.4
    hidden: float = Field(default=0.25, ge=0.0, lt=1.0)
    noise: NonNegativeFloat = 0.02


def pc_graphs(settings: PCGraphsSettings | None = None) -> CloudGraphs:
    """Generate PC Graphs: 8 x 500 graphs of 150 nodes with the default settings.

    >>> few = pc_graphs(PCGraphsSettings(graphs_per_class=2))
    >>> few.graphs.classes
    ('airplane', 'car', 'chair', 'guitar', 'knife', 'lamp', 'laptop', 'table')
    >>> len(few.graphs), few.graphs.num_nodes, few.points.shape
    (16, 2400, (16, 150, 3))
    """
    settings = settings or PCGraphsSettings()
    # Classes alternate, so that the first graphs of the set are a small set of all classes.
    drawn = [(shape, number) for number in range(settings.graphs_per_class) for shape in SHAPES]
    return graphs_of_clouds(
        (draw_cloud(shape, number, settings) for shape, number in drawn),
        [shape for shape, _ in drawn],
        [f"{shape}/{number}" for shape, number in drawn],
        settings=settings,
        name="pc-graphs",
    )


def draw_cloud(shape: str, number: int, settings: PCGraphsSettings) -> Points:
    """Return points ``[points, 3]`` of a shape; they do not depend on the other shapes."""
    rng = np.random.default_rng(seed_for(settings.seed, "pc-graphs", shape, number))
    surface = stretched(SHAPES[shape](rng), rng, settings.stretch)
    return scanned(
        surface,
        settings.points,
        rng,
        hidden=settings.hidden,
        noise=settings.noise,
        bend=settings.bend,
    )


def stretched(triangles: Triangles, rng: Generator, strength: float) -> Triangles:
    """Scale each axis by a factor whose logarithm has the standard deviation ``strength``."""
    return triangles * np.exp(rng.normal(0.0, strength, 3))


def bent(points: Points, rng: Generator, strength: float) -> Points:
    """Bend a shape along its longest axis, by up to ``strength`` radians from end to end."""
    low, high = points.min(axis=0), points.max(axis=0)
    longest = int((high - low).argmax())
    sideways = (longest + int(rng.integers(1, 3))) % 3
    span = high[longest] - low[longest]
    angle = rng.uniform(-strength, strength)
    if abs(angle) < 1e-6:
        return points
    radius = span / angle
    along = (points[:, longest] - (low + high)[longest] / 2) / radius
    away = points[:, sideways] - (low + high)[sideways] / 2 + radius
    curved = points.copy()
    curved[:, longest] = away * np.sin(along)
    curved[:, sideways] = away * np.cos(along) - radius
    return curved


def scanned(
    triangles: Triangles, count: int, rng: Generator, *, hidden: float, noise: float, bend: float
) -> Points:
    """Sample ``count`` points like a scanner: bent, partly hidden, normalized and noisy.

    Args:
        triangles: The surface.
        count: Number of points.
        rng: Source of randomness.
        hidden: Largest share of the surface that may be missing, on one side.
        noise: Standard deviation of the error of each point, relative to the size of the shape.
        bend: Largest bend from end to end, in radians.
    """
    # Half of the scans are complete, the others lose up to `hidden` of the surface.
    lost = max(0.0, rng.uniform(-hidden, hidden))
    candidates = bent(sample_surface(triangles, round(count / (1 - lost)), rng), rng, bend)
    direction = rng.normal(size=3)
    nearest = np.argsort(-(candidates @ direction), kind="stable")[:count]
    points = candidates[np.sort(nearest)]
    points -= points.mean(axis=0)
    points /= np.sqrt((points**2).sum(axis=1).mean())
    return points + rng.normal(0.0, noise, points.shape)
