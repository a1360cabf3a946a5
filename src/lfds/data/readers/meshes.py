"""Meshes from .ply, .off, .obj and .stl files, read by trimesh."""

import contextlib
import io
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lfds.data.datasets.pc_graphs.sampling import triangle_areas
from lfds.data.errors import DataError

if TYPE_CHECKING:
    from trimesh import Trimesh

# Beyond this the square of a distance leaves the range of float32.
LARGEST_COORDINATE = 1e15
_OFF_WITHOUT_FACES = re.compile(rb"\s*\w*OFF\s+\d+\s+0\s")


def read_mesh(path: Path) -> NDArray[np.float64]:
    """Return the triangles ``[faces, 3, 3]`` of a mesh, or the points ``[n, 3]`` of a .ply scan."""
    with _quiet():
        vertices, faces = _parsed(path)
    if len(faces) == 0:
        if path.suffix.lower() == ".ply" and len(vertices):
            return vertices
        raise DataError(
            "is a mesh without faces: there is no surface to draw points from; "
            "give it faces, or save its points as .xyz",
            source=path,
        )
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise DataError(
            f"has a face on vertex {faces.max()} of {len(vertices)}; write the mesh again",
            source=path,
        )
    triangles: NDArray[np.float64] = vertices[faces]
    if not (np.abs(triangles) < LARGEST_COORDINATE).all():
        raise DataError(
            "has a vertex that is not finite; coordinates must be finite numbers "
            f"below {LARGEST_COORDINATE:g}",
            source=path,
        )
    if not triangle_areas(triangles).any():
        raise DataError("has a surface without area; there is nothing to sample", source=path)
    return triangles


def _parsed(path: Path) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    try:
        import trimesh
    except ImportError as error:
        raise DataError(
            "meshes need trimesh; install it with: pip install 'lfds[meshes]'", source=path
        ) from error
    content = path.read_bytes()
    kind = path.suffix.lower().removeprefix(".")
    if kind == "off" and _OFF_WITHOUT_FACES.match(content):
        return np.empty((0, 3)), np.empty((0, 3), dtype=np.int64)
    if kind == "off":
        _check_off_is_whole(content, path)
    try:
        # From memory and without a resolver: a mesh cannot make the reader open other files.
        scene = trimesh.load_scene(io.BytesIO(content), file_type=kind, process=False)
        parts: list[Trimesh] = list(scene.dump())
        return _joined(parts)
    except Exception as error:  # whatever junk may cause; the file is the user's
        raise DataError(
            f"cannot be read as {kind} ({type(error).__name__}: {error}); write the mesh again",
            source=path,
        ) from error


def _check_off_is_whole(content: bytes, path: Path) -> None:
    """Raise where fewer faces follow than the file announces; trimesh takes what there is."""
    text = re.sub(rb"#[^\n]*", b"", content)
    lines = [line.split() for line in text.partition(b"OFF")[2].splitlines() if line.strip()]
    try:
        vertices, faces = int(lines[0][0]), int(lines[0][1])
        rows = lines[1 + vertices : 1 + vertices + faces]
        whole = [row for row in rows if len(row) > int(row[0])]
    except (IndexError, ValueError):
        return  # no .off at all, which trimesh says itself
    if len(whole) < faces:
        raise DataError(
            f"announces {faces} faces but holds {len(whole)}; it is cut short: fetch it again",
            source=path,
        )


def _joined(parts: "list[Trimesh]") -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    vertices, faces, before = [np.empty((0, 3))], [np.empty((0, 3), dtype=np.int64)], 0
    for part in parts:
        corners = np.asarray(part.vertices, dtype=np.float64).reshape(-1, 3)
        vertices.append(corners)
        # A cloud of points has no faces, and trimesh gives it no such attribute.
        faces.append(np.asarray(getattr(part, "faces", faces[0]), dtype=np.int64) + before)
        before += len(corners)
    return np.concatenate(vertices), np.concatenate(faces)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    # trimesh logs a traceback for a broken file before it raises; our message says it once.
    logger = logging.getLogger("trimesh")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
