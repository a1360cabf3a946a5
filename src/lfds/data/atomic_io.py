"""Files and folders that are written completely or not at all."""

import glob
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp
from typing import IO, TextIO, cast

from lfds.data.errors import DataError, quoted

_PREVIOUS = "old"


def atomic_write(path: Path, content: bytes) -> None:
    """Write ``content`` to a temporary file, then rename it to ``path``."""
    with _temporary_file(path, "wb") as file:
        file.write(content)


@contextmanager
def atomic_text(path: Path) -> Iterator[TextIO]:
    """Open a temporary text file that is renamed to ``path`` when the block succeeds."""
    if path.is_dir():
        raise DataError("is a folder, where a file is to be written", source=path)
    with _temporary_file(path, "w", encoding="utf-8", newline="") as file:
        yield cast(TextIO, file)


@contextmanager
def _temporary_file(
    path: Path, mode: str, encoding: str | None = None, newline: str | None = None
) -> Iterator[IO[bytes]]:
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(
            mode,
            prefix=f".{path.name}-",
            dir=path.parent,
            delete=False,
            encoding=encoding,
            newline=newline,
        ) as file:
            temporary = Path(file.name)
            yield cast(IO[bytes], file)
        # Temporary files are private; the result gets the permissions of an ordinary file.
        temporary.chmod(0o644)
        os.replace(temporary, path)
    except OSError as error:
        raise _not_writable(path, error) from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path, *, replaceable: Callable[[str], bool]) -> Iterator[Path]:
    """Make a temporary folder that is renamed to ``path`` when the block succeeds.

    Args:
        path: The folder to write. An existing one is replaced if it holds nothing else.
        replaceable: Whether a file of this name may be replaced.
    """
    try:
        check_overwrite(path, replaceable)
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(mkdtemp(prefix=f".{path.name}-", dir=path.parent))
    except OSError as error:
        raise _not_writable(path, error) from error
    try:
        yield folder
        folder.chmod(0o755)
        _put_in_place(folder, path)
    except OSError as error:
        raise _not_writable(path, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_overwrite(path: Path, replaceable: Callable[[str], bool]) -> None:
    """Raise if writing a folder at ``path`` would delete a file that is not ``replaceable``."""
    if path.is_symlink():
        # Other paths may lead to the same folder: replacing the link would not update them.
        raise DataError(
            f"is a link, which a folder would replace; write to {os.path.realpath(path)} itself, "
            "or remove the link",
            source=path,
        )
    if not path.exists():
        return
    if not path.is_dir():
        raise DataError("is a file, where a folder is to be written; choose a new one", source=path)
    others = sorted(e.name for e in path.iterdir() if not (e.is_file() and replaceable(e.name)))
    if others:
        raise DataError(
            f"holds other files, such as {quoted(others[0])}, that writing here would delete; "
            f"choose a new folder",
            source=path,
        )


def previous_folder(path: Path) -> Path | None:
    """Return the folder that was at ``path`` if replacing it was interrupted, else None."""
    left = path.parent.glob(f"{glob.escape(_previous_prefix(path))}*/{_PREVIOUS}")
    return max(left, key=lambda old: old.parent.stat().st_mtime, default=None)


def _previous_prefix(path: Path) -> str:
    return f".{path.name}-old-"


def _not_writable(path: Path, error: OSError) -> DataError:
    return DataError(f"cannot be written ({error.strerror})", source=path)


def _put_in_place(folder: Path, path: Path) -> None:
    if not path.exists():
        os.replace(folder, path)
        return
    # A folder cannot be renamed over one that has files: move the previous one away first.
    aside = Path(mkdtemp(prefix=_previous_prefix(path), dir=path.parent))
    try:
        os.replace(path, aside / _PREVIOUS)
        os.replace(folder, path)
    except BaseException:  # an interrupt as well
        _restore(aside / _PREVIOUS, path)
        raise
    finally:
        if path.exists():  # otherwise the previous folder is the only copy
            shutil.rmtree(aside, ignore_errors=True)


def _restore(old: Path, path: Path) -> None:
    if path.exists():
        return
    try:
        os.replace(old, path)
    except OSError as error:
        raise DataError(
            f"cannot be written ({error.strerror}); the previous folder was moved to {old}: "
            "move it back",
            source=path,
        ) from error
