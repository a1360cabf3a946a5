"""Point clouds as graphs of nearest neighbors; the coordinates are kept for drawing only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, PositiveInt
from scipy.spatial import cKDTree

from lfds.data.edges import Ints, undirected
from lfds.data.errors import DataError, quoted
from lfds.data.readers import meshes
from lfds.data.readers.tables import point_table
from lfds.seeds import seed_for

if TYPE_CHECKING:
    from lfds.data.graphset import GraphSet

Points = NDArray[np.float64]

_TEXT_SUFFIXES = (".xyz", ".txt", ".pts")
SUFFIXES = (*_TEXT_SUFFIXES, ".npy", *meshes.SUFFIXES)
"""Endings of the files that can be read."""

_SYNSETS = "synsetoffset2category.txt"


class CloudSettings(BaseModel):
    """How a point cloud becomes a graph.

    Attributes:
        points: Number of points sampled from each cloud: the nodes of its graph.
        neighbours: Number of nearest neighbors each point is connected to, in both directions.
        seed: Random seed of the sampling.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    points: PositiveInt = 150
    neighbours: PositiveInt = 6
    seed: int = 0


@dataclass(frozen=True, eq=False)
class CloudGraphs:
    """Graphs of point clouds.

    Attributes:
        graphs: One graph per cloud, without features.
        points: The coordinates ``[graphs, points, 3]``.
        names: The name of each cloud: its file, or its number in its class.
    """

    graphs: "GraphSet"
    points: NDArray[np.float32]
    names: tuple[str, ...]


def read_cloud_graphs(folder: str | PathLike[str], *, seed: int = 0) -> "GraphSet":
    """Read the graphs of a folder of clouds with default settings; see :func:`read_clouds`."""
    return read_clouds(folder, CloudSettings(seed=seed)).graphs


def read_clouds(folder: str | PathLike[str], settings: CloudSettings | None = None) -> CloudGraphs:
    """Read a folder ``CLASS/NAME.{xyz,txt,pts,npy,ply,off,obj,stl}``, or unpacked ShapeNet-Part.

    The points sampled from a cloud depend only on the seed, its class and its name.

    Args:
        folder: Has one folder for each class; other files beside them are ignored.
        settings: How a cloud becomes a graph.
    """
    root = Path(folder)
    settings = settings or CloudSettings()
    if settings.neighbours >= settings.points:
        raise DataError(
            f"{settings.neighbours} neighbours need more than {settings.points} points; "
            "use fewer neighbours or more points",
            source="neighbours",
        )
    files = [(label, path) for label, home in _classes(root).items() for path in _files(home)]
    return graphs_of_clouds(
        (_cloud(label, path, settings) for label, path in files),
        [label for label, _ in files],
        [path.relative_to(root).as_posix() for _, path in files],
        settings=settings,
        name=root.resolve().name,
    )


def is_cloud_folder(folder: str | PathLike[str]) -> bool:
    """Whether some folder inside ``folder`` holds a file of points."""
    root = Path(folder)
    if not root.is_dir():
        return False
    return (root / _SYNSETS).is_file() or any(
        path.is_dir() and any(_readable(file) for file in path.iterdir()) for path in root.iterdir()
    )


def read_cloud(path: Path, count: int, rng: Generator) -> Points:
    """Return ``count`` points ``[count, 3]`` of a cloud, or from the surface of a mesh.

    Args:
        path: A file with one of the endings :data:`SUFFIXES`.
        count: Number of points.
        rng: Source of randomness of the sampling.
    """
    suffix = path.suffix.lower()
    if suffix in _TEXT_SUFFIXES:
        points = _read_text(path)
    elif suffix == ".npy":
        points = _read_npy(path)
    else:
        points = meshes.read_mesh(path)
        if points.ndim == 3:
            return meshes.sample_surface(points, count, rng)
    wrong = ~(np.abs(points) < meshes.MAX_COORDINATE).all(axis=1)
    if wrong.any():
        first = int(wrong.argmax())
        raise DataError(
            f"point {first + 1} is {quoted(points[first])}; coordinates must be finite numbers "
            f"below {meshes.MAX_COORDINATE:g}",
            source=path,
        )
    if len(points) < count:
        raise DataError(
            f"holds {len(points)} points, {count} are needed; use fewer points, "
            f"or remove this cloud",
            source=path,
        )
    return points[rng.permutation(len(points))[:count]]


def neighbour_edges(points: Points, neighbours: int) -> Ints:
    """Connect every point to its nearest ones, in both directions.

    Args:
        points: ``[points, 3]``.
        neighbours: Number of nearest points; fewer than there are points.

    Returns:
        The edge index ``[2, edges]``, sorted, without repeated edges and self loops.

    >>> neighbour_edges(np.array([[0.0, 0, 0], [1, 0, 0], [9, 0, 0]]), 1).tolist()
    [[0, 1, 1, 2], [1, 0, 2, 1]]
    """
    count = len(points)
    if neighbours >= count:
        raise DataError(
            f"{neighbours} neighbours of each point need at least {neighbours + 1} points, "
            f"not {count}; use fewer neighbours",
            source="neighbours",
        )
    # Neighbors do not depend on the scale, but squares of very small numbers underflow.
    scaled = points / (np.abs(points).max() or 1.0)
    near = cKDTree(scaled).query(scaled, k=neighbours + 1)[1]
    itself = near == np.arange(count)[:, None]
    # Among many equal points a point may not find itself: then drop the farthest.
    itself[~itself.any(axis=1), -1] = True
    receivers = np.repeat(np.arange(count), neighbours)
    return np.stack(undirected(near[~itself], receivers, count))


def graphs_of_clouds(
    clouds: Iterable[Points],
    labels: Sequence[str],
    names: Sequence[str],
    *,
    settings: CloudSettings,
    name: str,
) -> CloudGraphs:
    """Return one graph per cloud; all clouds have the same number of points.

    Args:
        clouds: One array ``[points, 3]`` per name.
        labels: The class of each cloud.
        names: The name of each cloud.
        settings: How a cloud becomes a graph; stored in the provenance of the set.
        name: Name of the set.
    """
    from lfds.data.graphset import GraphSet

    points = np.stack(list(clouds))
    num_graphs, count, _ = points.shape
    edges = [
        neighbour_edges(cloud, settings.neighbours) + count * graph
        for graph, cloud in enumerate(points)
    ]
    graphs = GraphSet.from_arrays(
        np.full(num_graphs, count),
        np.concatenate(edges, axis=1),
        list(labels),
        coordinates=points.reshape(-1, 3),
        name=name,
    )
    provenance = {"format": "clouds", **settings.model_dump(), **graphs.provenance}
    graphs = replace(graphs, provenance={key: str(value) for key, value in provenance.items()})
    return CloudGraphs(graphs, points.astype(np.float32), tuple(names))


def _cloud(label: str, path: Path, settings: CloudSettings) -> Points:
    rng = np.random.default_rng(seed_for(settings.seed, "cloud", label, path.name))
    try:
        return read_cloud(path, settings.points, rng)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", source=path) from error


def _read_text(path: Path) -> Points:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(
            f"is not text (invalid byte {error.start}); a cloud has x, y and z on each line",
            source=path,
        ) from error
    return point_table(lines, path)


def _read_npy(path: Path) -> Points:
    try:
        # A memory map checks the size of the file and refuses objects: nothing is unpickled.
        table = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # numpy raises anything on invalid files
        raise DataError(
            f"is not an array of numbers saved by numpy ({error}); save it with "
            "numpy.save(file, points) where points has shape [n, 3]",
            source=path,
        ) from error
    if table.ndim != 2 or table.shape[1] < 3 or table.dtype.kind not in "iuf":
        raise DataError(
            f"holds {table.dtype} of shape {list(table.shape)}; "
            "a cloud needs numbers of shape [n, 3]",
            source=path,
        )
    # Numbers that are not finite are refused by name later.
    with np.errstate(invalid="ignore", over="ignore"):
        points: Points = np.array(table[:, :3], dtype=np.float64)
    return points


def _classes(root: Path) -> dict[str, Path]:
    if not root.is_dir():
        raise DataError("is not a folder; clouds are read from CLASS/NAME.xyz", source=root)
    if (root / _SYNSETS).is_file():
        classes = _synsets(root)
    else:
        folders = sorted(path for path in root.iterdir() if path.is_dir())
        classes = {path.name: path for path in folders if not path.name.startswith(".")}
    if not classes:
        raise DataError(
            "holds no folder of clouds; put each cloud at CLASS/NAME.xyz in it", source=root
        )
    return classes


def _synsets(root: Path) -> dict[str, Path]:
    """Return the folder of each category of ShapeNet-Part that exists."""
    index = root / _SYNSETS
    folders = {}
    try:
        lines = index.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise DataError("is not text; unpack ShapeNet-Part again", source=index) from error
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2 or not fields[1].isdigit():
            raise DataError("needs a category and its synset number", source=index, line=number)
        folders[fields[0]] = root / fields[1]
    return {name: path for name, path in sorted(folders.items()) if path.is_dir()}


def _files(home: Path) -> list[Path]:
    # The first edition of ShapeNet-Part keeps points and labels in different folders.
    inner = home / "points"
    home = inner if inner.is_dir() else home
    files = sorted(path for path in home.iterdir() if _readable(path))
    if not files:
        raise DataError(
            f"holds no cloud ({', '.join(SUFFIXES)}); add some or remove the folder", source=home
        )
    return files


def _readable(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()
