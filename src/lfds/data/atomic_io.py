"""Files and folders that appear whole or not at all."""

import glob
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp
from typing import TextIO, cast

from lfds.data.errors import DataError, quoted

_OLD = "old"


def atomic_write(path: Path, content: bytes) -> None:
    """Write ``content`` beside ``path``, then put it in place in one step."""
    beside = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(prefix=f".{path.name}-", dir=path.parent, delete=False) as file:
            beside = Path(file.name)
            file.write(content)
        # A temporary file is private; what it becomes is as public as any file.
        beside.chmod(0o644)
        os.replace(beside, path)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror})", source=path) from error
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)


@contextmanager
def whole_text(path: Path) -> Iterator[TextIO]:
    """Give a text file beside ``path`` that takes its place when the block ends well."""
    beside = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise DataError("is a folder, where a file is to be written", source=path)
        with NamedTemporaryFile(
            "w",
            prefix=f".{path.name}-",
            dir=path.parent,
            delete=False,
            encoding="utf-8",
            newline="",
        ) as file:
            beside = Path(file.name)
            yield cast(TextIO, file)
        beside.chmod(0o644)
        os.replace(beside, path)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror})", source=path) from error
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path, *, ours: Callable[[str], bool]) -> Iterator[Path]:
    """Give an empty folder beside ``path`` that takes its place when the block ends well.

    Args:
        path: The folder to make. One that is there is replaced, if nothing else is lost by that.
        ours: Whether a file of this name is one the caller writes, and may be replaced.
    """
    try:
        check_nothing_is_lost(path, ours)
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(mkdtemp(prefix=f".{path.name}-", dir=path.parent))
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror})", source=path) from error
    try:
        yield folder
        folder.chmod(0o755)
        _put_in_place(folder, path)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror})", source=path) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_nothing_is_lost(path: Path, ours: Callable[[str], bool]) -> None:
    """Raise if writing a folder at ``path`` would delete files that are not ``ours``."""
    if path.is_symlink():
        # The folder behind it may be known by other names: who asks for it means it.
        raise DataError(
            f"is a link, which a folder would replace; write to {os.path.realpath(path)} itself, "
            "or remove the link",
            source=path,
        )
    if not path.exists():
        return
    if not path.is_dir():
        raise DataError("is a file, where a folder is to be written; choose a new one", source=path)
    others = sorted(e.name for e in path.iterdir() if not (e.is_file() and ours(e.name)))
    if others:
        raise DataError(
            f"holds other files, such as {quoted(others[0])}, that writing here would delete; "
            f"choose a new folder",
            source=path,
        )


def stepped_aside(path: Path) -> Path | None:
    """Return the folder that was at ``path`` before its replacement was killed half way."""
    left = path.parent.glob(f"{glob.escape(_aside(path))}*/{_OLD}")
    return max(left, key=lambda old: old.parent.stat().st_mtime, default=None)


def _aside(path: Path) -> str:
    return f".{path.name}-old-"


def _put_in_place(folder: Path, path: Path) -> None:
    if not path.exists():
        os.replace(folder, path)
        return
    # A folder cannot be renamed over a full one: the old one steps aside first.
    aside = Path(mkdtemp(prefix=_aside(path), dir=path.parent))
    try:
        os.replace(path, aside / _OLD)
        os.replace(folder, path)
    except BaseException:  # an interrupt as well
        _put_back(aside / _OLD, path)
        raise
    finally:
        if path.exists():  # otherwise the only one there is
            shutil.rmtree(aside, ignore_errors=True)


def _put_back(old: Path, path: Path) -> None:
    if path.exists():
        return
    try:
        os.replace(old, path)
    except OSError as error:
        raise DataError(
            f"cannot be written ({error.strerror}); what was there is now {old}: move it back",
            source=path,
        ) from error
