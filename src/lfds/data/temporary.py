"""Temporary files and folders beside their destination, locked as long as they are in use.

A process that is killed cannot remove what it was writing, but its locks end with it: whoever
writes to the same place next removes everything there that nobody holds a lock of.
"""

import fcntl
import hashlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_UNFINISHED = "tmp"
_NUMBER = re.compile(r"-[0-9a-f]{16}")
# Names of files have at most 255 bytes, and the ending needs some of them.
_MAX_BYTES = 200


@contextmanager
def temporary_file(path: Path, permissions: int | None = None) -> Iterator[tuple[int, Path]]:
    """Make a file beside ``path``; yield its descriptor and its path. It is removed at the end.

    Args:
        path: The destination.
        permissions: Of the file; ``None`` for those that the umask gives to a new file.
    """
    first = 0o666 if permissions is None else permissions & 0o600
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    remove_abandoned(path)
    while True:
        made = _name_for(path)
        descriptor = os.open(made, flags, first)
        if lock(descriptor, made):
            break
        os.close(descriptor)
    try:
        if permissions is not None:
            os.fchmod(descriptor, permissions)
        yield descriptor, made
    finally:
        made.unlink(missing_ok=True)
        os.close(descriptor)


@contextmanager
def temporary_folder(
    path: Path, kind: str = _UNFINISHED, permissions: int = 0o777
) -> Iterator[Path]:
    """Make a folder beside ``path``, which the caller removes.

    Args:
        path: The destination.
        kind: How its name ends.
        permissions: Of the folder, without those that the umask takes away.
    """
    remove_abandoned(path)
    while True:
        made = _name_for(path, kind)
        made.mkdir(permissions)
        descriptor = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        if lock(descriptor, made):
            break
        os.close(descriptor)
    try:
        yield made
    finally:
        os.close(descriptor)


def remove_abandoned(path: Path, kind: str = _UNFINISHED) -> None:
    """Remove temporary files and folders for ``path`` whose process does not live any more."""
    for entry in temporaries_for(path, kind):
        _remove_unlocked(entry)


def remove_all_abandoned(folder: Path) -> None:
    """Remove the unfinished files and folders in ``folder``, for any path, of killed processes."""
    with suppress(OSError):
        for entry in folder.iterdir():
            stem = entry.name.removesuffix(f".{_UNFINISHED}")
            if stem != entry.name and stem.startswith(".") and _NUMBER.fullmatch(stem[-17:]):
                _remove_unlocked(entry)


def temporaries_for(path: Path, kind: str = _UNFINISHED) -> list[Path]:
    """Return the temporary files and folders of any process for ``path``."""
    prefix, ending = _prefix(path), f".{kind}"
    try:
        names = os.listdir(path.parent)
    except OSError:
        return []
    return [
        path.parent / name
        for name in names
        if name.startswith(prefix)
        and name.endswith(ending)
        and _NUMBER.fullmatch(name.removesuffix(ending)[len(prefix) :])
    ]


def _name_for(path: Path, kind: str = _UNFINISHED) -> Path:
    return path.parent / f"{_prefix(path)}-{secrets.token_hex(8)}.{kind}"


def _prefix(path: Path) -> str:
    name = os.fsencode(path.name)
    if len(name) > _MAX_BYTES:
        return f".{hashlib.sha256(name).hexdigest()}"
    return f".{path.name}"


def lock(descriptor: int, path: Path) -> bool:
    """Lock a file or folder; return False if another process uses it, or has just removed it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # some file systems have no locks; nothing is removed there, which needs a lock
    try:
        return os.stat(path).st_ino == os.fstat(descriptor).st_ino
    except FileNotFoundError:
        return False


def _remove_unlocked(entry: Path) -> None:
    # Whatever is in the way: leftovers are a nuisance, not an error.
    with suppress(OSError):
        descriptor = os.open(entry, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)
        finally:
            os.close(descriptor)
