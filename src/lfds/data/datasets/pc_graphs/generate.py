"""PC Graphs, built in: random shapes of eight kinds, scanned, as graphs without coordinates."""

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveInt

from lfds.data.datasets.pc_graphs import SHAPES
from lfds.data.datasets.pc_graphs.variety import scanned, stretched
from lfds.data.readers.clouds import CloudGraphs, CloudSettings, Points, graphs_of_clouds
from lfds.seeds import seed_for


class PCGraphsSettings(CloudSettings):
    """How many shapes are drawn, and how roughly they are treated.

    Attributes:
        graphs_per_class: Shapes of each of the eight kinds.
        stretch: Spread of the logarithm by which each axis is scaled.
        bend: Largest bend from end to end, in radians.
        hidden: Largest share of a shape that is out of the scanner's sight.
        noise: Spread of the error of each point, relative to the size of the shape.
    """

    graphs_per_class: PositiveInt = 500
    stretch: NonNegativeFloat = 0.15
    bend: NonNegativeFloat = 0.4
    hidden: float = Field(default=0.25, ge=0.0, lt=1.0)
    noise: NonNegativeFloat = 0.02


def draw_cloud(kind: str, number: int, settings: PCGraphsSettings) -> Points:
    """Draw shape ``number`` of a kind, whatever else is drawn, as points ``[points, 3]``."""
    rng = np.random.default_rng(seed_for(settings.seed, "pc-graphs", kind, number))
    surface = stretched(SHAPES[kind](rng), rng, settings.stretch)
    return scanned(
        surface,
        settings.points,
        rng,
        hidden=settings.hidden,
        noise=settings.noise,
        bend=settings.bend,
    )


def pc_graphs(settings: PCGraphsSettings | None = None) -> CloudGraphs:
    """Draw the built-in PC Graphs: 8 x 500 graphs of 150 nodes, unless settings say otherwise.

    >>> few = pc_graphs(PCGraphsSettings(graphs_per_class=2))
    >>> few.graphs.classes
    ('airplane', 'car', 'chair', 'guitar', 'knife', 'lamp', 'laptop', 'table')
    >>> len(few.graphs), few.graphs.num_nodes, few.points.shape
    (16, 2400, (16, 150, 3))
    """
    settings = settings or PCGraphsSettings()
    # Kinds take turns, so that the first graphs of the set are a small set of all kinds.
    drawn = [(kind, number) for number in range(settings.graphs_per_class) for kind in SHAPES]
    return graphs_of_clouds(
        (draw_cloud(kind, number, settings) for kind, number in drawn),
        [kind for kind, _ in drawn],
        [f"{kind}/{number}" for kind, number in drawn],
        settings=settings,
        name="pc-graphs",
    )
