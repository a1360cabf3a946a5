"""Members of a .zip or .tar, read without unpacking to disk; bombs and strays are refused."""

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from lfds.data.errors import DataError, quoted
from lfds.data.readers.tar_members import PACKINGS, open_tar

# Text of numbers packs 4 to 20 times; small archives of repeated labels pack better than that.
_HARMLESS_BYTES = 512 * 2**20
_MOST_EXPANSION = 100
_TAR_MAGIC, _TAR_MAGIC_AT = b"ustar", 257
_UNREADABLE = (
    OSError,
    EOFError,
    RuntimeError,  # an encrypted member
    NotImplementedError,  # a packing method this Python was built without
    ValueError,
    KeyError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
)


def read_members(path: Path, *, endings: tuple[str, ...]) -> dict[str, bytes]:
    """Return the content of the members of an archive whose names have one of these endings.

    Args:
        path: A .zip, or a .tar packed in any way, whatever it is called.
        endings: Which members are wanted.
    """
    begin = b""
    try:
        if zipfile.is_zipfile(path):
            return dict(_zip_members(path, endings))
        begin = _begin(path)
        if begin.startswith(b"PK\x03\x04"):
            raise DataError("is an archive that was cut short; fetch it again", source=path)
        return dict(_tar_members(path, endings))
    except (DataError, PermissionError):
        raise
    except _UNREADABLE as error:
        if isinstance(error, tarfile.ReadError) and not _is_like_tar(begin):
            problem = "is neither a folder, nor a .zip, nor a .tar(.gz)"
            raise DataError(problem, source=path) from error
        problem = f"cannot be unpacked ({error}); it may be cut short: fetch it again"
        raise DataError(problem, source=path) from error


def _zip_members(path: Path, endings: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        budget = _Budget(path)
        for member in archive.infolist():
            budget.check_place(member.filename)
            budget.spend(member.file_size)
            if member.filename.endswith(endings):
                # Never more than the size it was admitted with: zipfile stops there.
                yield member.filename, archive.read(member)


def _tar_members(path: Path, endings: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    budget = _Budget(path)
    with open_tar(path, budget.spend) as archive:
        for member in archive:
            budget.check_place(member.name)
            file = archive.extractfile(member) if member.isreg() else None
            if file is not None and member.name.endswith(endings):
                yield member.name, file.read()


def _begin(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_TAR_MAGIC_AT + len(_TAR_MAGIC))


def _is_like_tar(begin: bytes) -> bool:
    return begin.startswith(tuple(PACKINGS)) or begin[_TAR_MAGIC_AT:] == _TAR_MAGIC


class _Budget:
    """How much an archive may unpack to before it is taken for a bomb."""

    def __init__(self, archive: Path) -> None:
        self.archive = archive
        self.left = max(_HARMLESS_BYTES, _MOST_EXPANSION * archive.stat().st_size)

    def check_place(self, member: str) -> None:
        """Refuse a member that reaches out of the archive's folder."""
        parts = PurePosixPath(member.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts:
            raise DataError(
                f"holds the member {quoted(member)}, which points outside; do not trust it",
                source=self.archive,
            )

    def spend(self, size: int) -> None:
        """Refuse what is too much."""
        self.left -= size
        if self.left < 0:
            raise DataError(
                f"unpacks to more than {_MOST_EXPANSION} times its size, as a bomb does; "
                f"if you trust it, unpack it and give the folder",
                source=self.archive,
            )
