"""One file in, points out: tables of numbers as they are, meshes sampled by area."""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from lfds.data.datasets.pc_graphs.sampling import sample_surface
from lfds.data.errors import DataError, quoted
from lfds.data.readers.clouds import Points
from lfds.data.readers.meshes import LARGEST_COORDINATE, read_mesh


def read_cloud(path: Path, count: int, rng: Generator) -> Points:
    """Read ``count`` points ``[count, 3]`` of a cloud, or from the surface of a mesh.

    Args:
        path: A file whose suffix is one of :data:`SUFFIXES`.
        count: Points needed.
        rng: Chooses among the points of a cloud, and places those of a mesh.
    """
    suffix = path.suffix.lower()
    if suffix in _TABLES:
        return _chosen(path, _TABLES[suffix](path), count, rng)
    surface = read_mesh(path)
    if surface.ndim == 2:  # points of a scan, without a surface
        return _chosen(path, surface, count, rng)
    return sample_surface(surface, count, rng)


def _chosen(path: Path, points: Points, count: int, rng: Generator) -> Points:
    wrong = ~(np.abs(points) < LARGEST_COORDINATE).all(axis=1)
    if wrong.any():
        first = int(wrong.argmax())
        raise DataError(
            f"point {first + 1} is {quoted(points[first])}; coordinates must be finite numbers "
            f"below {LARGEST_COORDINATE:g}",
            source=path,
        )
    if len(points) < count:
        raise DataError(
            f"holds {len(points)} points, {count} are needed; ask for fewer points, "
            f"or leave this cloud out",
            source=path,
        )
    return points[rng.permutation(len(points))[:count]]


def _read_text(path: Path) -> Points:
    """Read x, y and z from the first three columns of each line; further columns are ignored."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(
            f"is not text (byte {error.start} cannot be read); a cloud has x, y and z on each line",
            source=path,
        ) from error
    try:
        return _table(lines)
    except ValueError:
        rows = _fields_by_line(lines)
    # Some programs write the number of points on a line of its own first.
    if rows and len(rows[0][1]) == 1 and rows[0][1][0] == str(len(rows) - 1):
        rows = rows[1:]
    if not rows:
        raise DataError("holds no points; a cloud has x, y and z on each line", source=path)
    _need_three_numbers(path, rows)
    return np.array([[float(field) for field in fields[:3]] for _, fields in rows])


def _table(lines: list[str]) -> Points:
    """Read many lines fast, or raise ValueError where a closer look is needed."""
    if not any(lines):
        raise ValueError("nothing to read")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy only warns of a table without rows
        try:
            return np.loadtxt(lines, usecols=(0, 1, 2), ndmin=2, dtype=np.float64)
        except UserWarning as warning:
            raise ValueError(str(warning)) from warning


def _fields_by_line(lines: list[str]) -> list[tuple[int, list[str]]]:
    return [
        (number, fields)
        for number, line in enumerate(lines, start=1)
        if (fields := line.partition("#")[0].replace(",", " ").split())
    ]


def _need_three_numbers(path: Path, rows: list[tuple[int, list[str]]]) -> None:
    for number, fields in rows:
        if len(fields) < 3:
            need = f"has {len(fields)} of the three numbers x, y and z"
            raise DataError(f"{need}; complete or remove the line", source=path, line=number)
        for field in fields[:3]:
            if not _is_number(field):
                need = f"{quoted(field)} is not a number"
                raise DataError(f"{need}; x, y and z are", source=path, line=number)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _read_npy(path: Path) -> Points:
    try:
        # A memory map checks the size against the file, and refuses objects: nothing is unpickled.
        table = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # whatever junk may cause; the file is the user's
        raise DataError(
            f"is no array of numbers saved by numpy ({error}); save it with "
            "numpy.save(file, points) where points has shape [n, 3]",
            source=path,
        ) from error
    if table.ndim != 2 or table.shape[1] < 3 or table.dtype.kind not in "iuf":
        raise DataError(
            f"holds {table.dtype} of shape {list(table.shape)}; "
            "a cloud needs numbers of shape [n, 3]",
            source=path,
        )
    points: NDArray[np.float64] = np.array(table[:, :3], dtype=np.float64)
    return points


_TABLES: Mapping[str, Callable[[Path], Points]] = {
    ".xyz": _read_text,
    ".txt": _read_text,
    ".pts": _read_text,
    ".npy": _read_npy,
}
SUFFIXES = (*_TABLES, ".ply", ".off", ".obj", ".stl")
"""What can be read, by the end of a file's name."""
