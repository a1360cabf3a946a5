"""Files and folders that are written completely or not at all.

A link is followed: what it points to is written. Devices, pipes and the like are written to as they
are; they cannot be replaced by a file.
"""

import glob
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TextIO, cast

from lfds.data.errors import DataError, quoted
from lfds.data.temporary import (
    remove_abandoned,
    temporaries_for,
    temporary_file,
    temporary_folder,
)

_PREVIOUS = "old"
# Where systems keep the open files of processes: /dev/stdout leads there.
_DESCRIPTOR = re.compile(
    r"(?:/proc/(?P<process>\w[\w-]*)(?:/task/\w+)?|/dev)/fd/(?P<number>[0-9]+)"
)
_MAX_LINKS = 40


def atomic_write(path: Path, content: bytes) -> None:
    """Write ``content`` to a temporary file, then rename it to ``path``."""
    with _output(path, "wb") as file:
        file.write(content)


@contextmanager
def atomic_text(path: Path) -> Iterator[TextIO]:
    """Open a temporary text file that is renamed to ``path`` when the block succeeds."""
    with _output(path, "w", encoding="utf-8", newline="") as file:
        yield cast(TextIO, file)


def is_special(path: Path) -> bool:
    """Whether a path is a device, a pipe or an open file, which are written to as they are."""
    if _descriptor_of(path) is not None:
        return True
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def _output(
    path: Path, mode: str, encoding: str | None = None, newline: str | None = None
) -> Iterator[IO[bytes]]:
    try:
        if path.is_dir():
            raise DataError("is a folder, where a file is to be written; name a file", source=path)
        if is_special(path):
            with _open_special(path, mode, encoding, newline) as file:
                yield file
            return
        target = _behind_links(path)
        make_folder(target.parent)
        with (
            temporary_file(target, _permissions(target)) as (descriptor, made),
            open(descriptor, mode, encoding=encoding, newline=newline, closefd=False) as file,
        ):
            yield cast(IO[bytes], file)
            file.flush()
            os.replace(made, target)
    except OSError as error:
        raise _not_writable(path, error) from error


def _permissions(path: Path) -> int | None:
    """Return the permissions of a file that is to be replaced; None if there is none."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None


def _open_special(path: Path, mode: str, encoding: str | None, newline: str | None) -> IO[bytes]:
    number = _descriptor_of(path)
    if number is None and stat.S_ISBLK(path.stat().st_mode):
        raise DataError("is a disk, which writing here would destroy; name a file", source=path)
    # An open file goes on where it is: opening it again would truncate it.
    place: Path | int = path if number is None else os.dup(number)
    return cast(IO[bytes], open(place, mode, encoding=encoding, newline=newline))


def _descriptor_of(path: Path) -> int | None:
    """Return the number of the open file of this process that a path leads to, if any."""
    text = os.path.abspath(path)
    for _ in range(_MAX_LINKS):
        found = _DESCRIPTOR.fullmatch(text)
        if found:
            mine = found["process"] in (None, "self", "thread-self", str(os.getpid()))
            return int(found["number"]) if mine else None
        try:
            text = os.path.normpath(os.path.join(os.path.dirname(text), os.readlink(text)))
        except (OSError, ValueError):
            return None
    return None


def _behind_links(path: Path) -> Path:
    """Return the path that a link points to; other paths as they are."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


@contextmanager
def atomic_folder(path: Path, *, replaceable: Callable[[str], bool]) -> Iterator[Path]:
    """Make a temporary folder that is renamed to ``path`` when the block succeeds.

    Args:
        path: The folder to write. An existing one is replaced if it holds nothing else.
        replaceable: Whether a file of this name may be replaced.
    """
    with ExitStack() as stack:
        try:
            check_overwrite(path, replaceable)
            target = _behind_links(path)
            make_folder(target.parent)
            # What replaces a private folder is private from the beginning.
            mode = 0o700 if target.exists() else 0o777
            folder = stack.enter_context(temporary_folder(target, permissions=mode))
        except OSError as error:
            raise _not_writable(path, error) from error
        try:
            yield folder
            _keep_permissions(target, folder)
            _put_in_place(folder, target)
        except OSError as error:
            raise _not_writable(path, error) from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def make_folder(path: Path) -> None:
    """Make a folder and those above it; one that is there is left alone.

    A link that points to nothing yet is followed: the folder is made where it points.

    Raises:
        DataError: There is a file in the place of a folder.
        OSError: It cannot be made for another reason.
    """
    try:
        _behind_links(path).mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise _in_place_of_a_folder(_lowest_entry(path)) from error


def check_folder(path: Path) -> None:
    """Raise if :func:`make_folder` would find a file in the place of a folder; make nothing."""
    lowest = _lowest_entry(path)
    if lowest.exists() and not lowest.is_dir():
        raise _in_place_of_a_folder(lowest)


def _lowest_entry(path: Path) -> Path:
    """Return a path, or the first above it that is there."""
    return next((one for one in (path, *path.parents) if os.path.lexists(one)), path)


def _in_place_of_a_folder(file: Path) -> DataError:
    return DataError("is a file, where a folder is to be written; choose a new one", source=file)


def check_overwrite(path: Path, replaceable: Callable[[str], bool]) -> None:
    """Raise if writing a folder at ``path`` would delete a file that is not ``replaceable``."""
    try:
        if not path.exists():
            return
        if not path.is_dir():
            raise _in_place_of_a_folder(path)
        others = sorted(e.name for e in path.iterdir() if not (e.is_file() and replaceable(e.name)))
    except OSError as error:
        raise _not_writable(path, error) from error
    if others:
        raise DataError(
            f"holds other files, such as {quoted(others[0])}, that writing here would delete; "
            f"choose a new folder",
            source=path,
        )


def check_present(path: Path, what: str) -> None:
    """Raise if a folder is missing because replacing it was interrupted; say where it is.

    Args:
        path: The folder to read.
        what: What it holds, for the message.
    """
    old = previous_folder(path)
    if old is not None:
        raise DataError(
            f"is missing: a save was interrupted, and the previous {what} was moved to {old}; move "
            f"it back to {path}, or save again",
            source=path,
        )


def previous_folder(path: Path) -> Path | None:
    """Return the folder that was at ``path`` if replacing it was interrupted, else None."""
    try:
        path = _behind_links(path)
    except (OSError, ValueError):  # a name that is too long, a folder that may not be read
        return None
    if os.path.lexists(path) or not path.name:
        return None
    asides = [*temporaries_for(path, _PREVIOUS), *_asides_before_0_1(path)]
    left = [aside / _PREVIOUS for aside in asides]
    kept = [old for old in left if old.is_dir()]
    return max(kept, key=lambda old: old.parent.stat().st_mtime, default=None)


def _asides_before_0_1(path: Path) -> Iterator[Path]:
    return path.parent.glob(f".{glob.escape(path.name)}-old-????????")


def _not_writable(path: Path, error: OSError) -> DataError:
    return DataError(f"cannot be written ({error.strerror or error})", source=path)


def _keep_permissions(old: Path, new: Path) -> None:
    """Give a new folder and its files the permissions of those that they replace."""
    if old.is_dir():
        for entry in (new, *new.iterdir()):
            before = old if entry is new else old / entry.name
            if before.exists():
                entry.chmod(stat.S_IMODE(before.stat().st_mode))


def _put_in_place(folder: Path, path: Path) -> None:
    if not path.exists():
        os.replace(folder, path)
        remove_abandoned(path, _PREVIOUS)
        return
    # A folder cannot be renamed over one that has files: move the previous one away first.
    with temporary_folder(path, _PREVIOUS) as aside:
        try:
            os.replace(path, aside / _PREVIOUS)
            os.replace(folder, path)
        except BaseException:  # an interrupt as well
            _restore(aside / _PREVIOUS, path)
            raise
        finally:
            if path.exists():  # otherwise the previous folder is the only copy
                shutil.rmtree(aside, ignore_errors=True)
    remove_abandoned(path, _PREVIOUS)


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
