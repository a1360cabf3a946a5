"""Meshes from .ply, .off, .obj and .stl files, and points sampled from their surface."""

import contextlib
import io
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from lfds.data.errors import DataError

if TYPE_CHECKING:
    from trimesh import Trimesh

Reals = NDArray[np.float64]

SUFFIXES = (".ply", ".off", ".obj", ".stl")
# Beyond this the square of a distance leaves the range of float32.
MAX_COORDINATE = 1e15
_OFF_WITHOUT_FACES = re.compile(rb"\s*\w*OFF\s+\d+\s+0\s")


def read_mesh(path: Path) -> Reals:
    """Return the triangles ``[faces, 3, 3]`` of a mesh, or the points ``[n, 3]`` of a .ply scan."""
    # Coordinates that are not finite are refused below; trimesh computes with them.
    with _without_logs(), np.errstate(all="ignore"):
        vertices, faces = _read(path)
    if len(faces) == 0:
        if path.suffix.lower() == ".ply" and len(vertices):
            return vertices
        raise DataError(
            "is a mesh without faces: there is no surface to sample points from; "
            "give it faces, or save its points as .xyz",
            source=path,
        )
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise DataError(
            f"has a face with vertex {faces.max()} of {len(vertices)}; write the mesh again",
            source=path,
        )
    triangles: Reals = vertices[faces]
    if not (np.abs(triangles) < MAX_COORDINATE).all():
        raise DataError(
            "has a vertex that is not finite; coordinates must be finite numbers "
            f"below {MAX_COORDINATE:g}",
            source=path,
        )
    if not triangle_areas(triangles).any():
        raise DataError("has a surface without area; there is nothing to sample", source=path)
    return triangles


def triangle_areas(triangles: Reals) -> Reals:
    """Return the area of each triangle."""
    first, second = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    areas: Reals = np.linalg.norm(np.cross(first, second), axis=1) / 2
    return areas


def sample_surface(triangles: Reals, count: int, rng: Generator) -> Reals:
    """Sample ``count`` points ``[count, 3]`` uniformly from a surface with positive area."""
    total = triangle_areas(triangles).cumsum()
    # side="right" never selects a triangle without area.
    chosen = np.searchsorted(total, rng.random(count) * total[-1], side="right")
    corners = triangles[np.minimum(chosen, len(total) - 1)]
    corner, first, second = corners[:, 0], corners[:, 1], corners[:, 2]
    along, across = rng.random((2, count, 1))
    # Reflecting the far half of the parallelogram keeps the density uniform on the triangle.
    beyond = along + across > 1
    along, across = np.where(beyond, 1 - along, along), np.where(beyond, 1 - across, across)
    points: Reals = corner + along * (first - corner) + across * (second - corner)
    return points


def _read(path: Path) -> tuple[Reals, NDArray[np.int64]]:
    try:
        import trimesh
    except ImportError as error:
        raise DataError(
            "meshes need trimesh; install it with: pip install 'lfds[meshes]'", source=path
        ) from error
    content = path.read_bytes()
    file_type = path.suffix.lower().removeprefix(".")
    if file_type == "off" and _OFF_WITHOUT_FACES.match(content):
        return np.empty((0, 3)), np.empty((0, 3), dtype=np.int64)
    if file_type == "off":
        _check_off_is_complete(content, path)
    try:
        # From memory and without a resolver: a mesh cannot make trimesh open other files.
        scene = trimesh.load_scene(io.BytesIO(content), file_type=file_type, process=False)
        parts: list[Trimesh] = list(scene.dump())
        return _concatenated(parts)
    except Exception as error:  # trimesh raises anything on invalid files
        raise DataError(
            f"cannot be read as {file_type} ({type(error).__name__}: {error}); "
            "write the mesh again",
            source=path,
        ) from error


def _check_off_is_complete(content: bytes, path: Path) -> None:
    """Raise if there are fewer faces than announced, which trimesh does not check."""
    text = re.sub(rb"#[^\n]*", b"", content)
    lines = [line.split() for line in text.partition(b"OFF")[2].splitlines() if line.strip()]
    try:
        vertices, faces = int(lines[0][0]), int(lines[0][1])
        rows = lines[1 + vertices : 1 + vertices + faces]
        complete = [row for row in rows if len(row) > int(row[0])]
    except (IndexError, ValueError):
        return  # not an .off file; trimesh raises
    if len(complete) < faces:
        raise DataError(
            f"announces {faces} faces but holds {len(complete)}; it is truncated: "
            "download it again",
            source=path,
        )


def _concatenated(parts: "list[Trimesh]") -> tuple[Reals, NDArray[np.int64]]:
    vertices, faces, before = [np.empty((0, 3))], [np.empty((0, 3), dtype=np.int64)], 0
    for part in parts:
        corners = np.asarray(part.vertices, dtype=np.float64).reshape(-1, 3)
        vertices.append(corners)
        # A point cloud has no faces, and trimesh gives it no such attribute.
        faces.append(np.asarray(getattr(part, "faces", faces[0]), dtype=np.int64) + before)
        before += len(corners)
    return np.concatenate(vertices), np.concatenate(faces)


@contextlib.contextmanager
def _without_logs() -> Iterator[None]:
    # trimesh logs a traceback for an invalid file before it raises.
    logger = logging.getLogger("trimesh")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
