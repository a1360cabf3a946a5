"""Clouds of points in, graphs of nearest neighbours out; no network sees the coordinates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, PositiveInt
from scipy.spatial import cKDTree

from lfds.data.errors import DataError

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet

Points = NDArray[np.float64]


class CloudSettings(BaseModel):
    """How a cloud becomes a graph.

    Attributes:
        points: Points kept of each cloud, the nodes of its graph.
        neighbours: Each point is joined to this many nearest ones, in both directions.
        seed: Root of the streams that choose the points.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    points: PositiveInt = 150
    neighbours: PositiveInt = 6
    seed: int = 0


@dataclass(frozen=True, eq=False)
class CloudGraphs:
    """Graphs of clouds, and apart from them what a network must not see.

    Attributes:
        graphs: One graph per cloud, without features; it carries the coordinates for drawing.
        points: The coordinates ``[graphs, points, 3]``, for drawing.
        names: What each cloud is called: its file, or its number in its class.
    """

    graphs: "GraphSet"
    points: NDArray[np.float32]
    names: tuple[str, ...]


def neighbour_edges(points: Points, neighbours: int) -> NDArray[np.int64]:
    """Join every point to its nearest ones, and them to it.

    Args:
        points: ``[points, 3]``.
        neighbours: How many; fewer than there are points.

    Returns:
        ``[2, edges]``, both directions of each edge, sorted, none twice and none to itself.

    >>> neighbour_edges(np.array([[0.0, 0, 0], [1, 0, 0], [9, 0, 0]]), 1).tolist()
    [[0, 1, 1, 2], [1, 0, 2, 1]]
    """
    count = len(points)
    if neighbours >= count:
        raise DataError(
            f"{neighbours} neighbours of each point need at least {neighbours + 1} points, "
            f"not {count}; ask for fewer neighbours",
            source="neighbours",
        )
    # Neighbours do not depend on the scale, but squares of very small numbers vanish.
    scaled = points / (np.abs(points).max() or 1.0)
    near = cKDTree(scaled).query(scaled, k=neighbours + 1)[1]
    itself = near == np.arange(count)[:, None]
    # Among many points in one place a point may not find itself: then the farthest gives way.
    itself[~itself.any(axis=1), -1] = True
    receivers = np.repeat(np.arange(count), neighbours)
    senders = near[~itself]
    keys = np.unique(np.concatenate([senders * count + receivers, receivers * count + senders]))
    return np.stack(np.divmod(keys, count))


def graphs_of_clouds(
    clouds: Iterable[Points],
    kinds: Sequence[str],
    names: Sequence[str],
    *,
    settings: CloudSettings,
    name: str,
) -> CloudGraphs:
    """Make one graph of each cloud; all clouds have the same number of points.

    Args:
        clouds: One ``[points, 3]`` for each name.
        kinds: The class of each cloud.
        names: What each cloud is called.
        settings: How a cloud becomes a graph; kept as the provenance of the set.
        name: What the set is called.
    """
    from lfds.data.graphset import GraphSet

    points = np.stack(list(clouds))
    num_graphs, count, _ = points.shape
    joined = (neighbour_edges(cloud, settings.neighbours) for cloud in points)
    edges = [pairs + count * graph for graph, pairs in enumerate(joined)]
    graphs = GraphSet.from_arrays(
        np.full(num_graphs, count),
        np.concatenate(edges, axis=1),
        list(kinds),
        coordinates=points.reshape(-1, 3),
        name=name,
    )
    provenance = {"format": "clouds", **settings.model_dump(), **graphs.provenance}
    graphs = replace(graphs, provenance={key: str(value) for key, value in provenance.items()})
    return CloudGraphs(graphs, points.astype(np.float32), tuple(names))
