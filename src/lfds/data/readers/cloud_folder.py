"""PC Graphs from real shapes: a folder for each class, a file for each cloud."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

import numpy as np

from lfds.data.errors import DataError
from lfds.data.readers.cloud_files import SUFFIXES, read_cloud
from lfds.data.readers.clouds import CloudGraphs, CloudSettings, graphs_of_clouds
from lfds.seeds import seed_for

_SYNSETS = "synsetoffset2category.txt"


def read_clouds(folder: str | PathLike[str], settings: CloudSettings | None = None) -> CloudGraphs:
    """Read ``CLASS/NAME.{xyz,txt,pts,npy,ply,off,obj,stl}``, or ShapeNet-Part as it is unpacked.

    Which points of a cloud are kept depends on the seed, its class and its name alone, not on
    what else is in the folder.

    Args:
        folder: Holds one folder for each class; other files beside them are ignored.
        settings: How a cloud becomes a graph.
    """
    root = Path(folder)
    settings = settings or CloudSettings()
    if settings.neighbours >= settings.points:
        raise DataError(
            f"{settings.neighbours} neighbours need more than {settings.points} points; "
            "ask for fewer neighbours or for more points",
            source="neighbours",
        )
    files = [(kind, path) for kind, home in _classes(root).items() for path in _files(home)]
    clouds = (_cloud(kind, path, settings) for kind, path in files)
    return graphs_of_clouds(
        clouds,
        [kind for kind, _ in files],
        [path.relative_to(root).as_posix() for _, path in files],
        settings=settings,
        name=root.resolve().name,
    )


def is_cloud_folder(folder: str | PathLike[str]) -> bool:
    """Whether a folder looks like one of clouds: some folder in it holds a file of points."""
    root = Path(folder)
    if not root.is_dir():
        return False
    return (root / _SYNSETS).is_file() or any(
        path.is_dir() and any(_readable(file) for file in path.iterdir()) for path in root.iterdir()
    )


def _cloud(kind: str, path: Path, settings: CloudSettings) -> np.ndarray:
    rng = np.random.default_rng(seed_for(settings.seed, "cloud", kind, path.name))
    try:
        return read_cloud(path, settings.points, rng)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", source=path) from error


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
    """Read which folder holds which category; of those listed, some may not be there."""
    index = root / _SYNSETS
    categories: Mapping[str, str] = {}
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
        categories = {**categories, fields[0]: fields[1]}
    there = {name: root / synset for name, synset in sorted(categories.items())}
    return {name: path for name, path in there.items() if path.is_dir()}


def _files(home: Path) -> list[Path]:
    # ShapeNet-Part's first edition keeps the points apart from the labels of the parts.
    inner = home / "points"
    home = inner if inner.is_dir() else home
    files = sorted(path for path in home.iterdir() if _readable(path))
    if not files:
        raise DataError(
            f"holds no cloud; readable are {', '.join(SUFFIXES)}; fill the folder or remove it",
            source=home,
        )
    return files


def _readable(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()
