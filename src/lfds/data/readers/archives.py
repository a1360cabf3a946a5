"""Members of .zip and .tar archives, read without unpacking to disk."""

import bz2
import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path, PurePosixPath
from typing import Self

from lfds.data.errors import DataError, quoted
from lfds.data.readers.tables import check_text_size

# Text of numbers compresses 4 to 20 times.
_MAX_EXPANSION = 100
_ZIP_MAGIC, _TAR_MAGIC, _TAR_MAGIC_AT = b"PK\x03\x04", b"ustar", 257
_COMPRESSIONS: Mapping[bytes, type[gzip.GzipFile] | type[bz2.BZ2File] | type[lzma.LZMAFile]] = {
    b"\x1f\x8b": gzip.GzipFile,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_UNREADABLE = (
    OSError,
    EOFError,
    RuntimeError,  # an encrypted member
    NotImplementedError,  # a compression this Python was built without
    ValueError,
    KeyError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
)


def is_archive(path: Path) -> bool:
    """Whether a file is, or begins like, a .zip or a .tar, compressed or not."""
    begin = _first_block(path)
    return begin.startswith(_ZIP_MAGIC) or zipfile.is_zipfile(path) or _is_tar(begin)


def read_members(
    path: Path, *, endings: tuple[str, ...], harmless_size: int = 64 * 2**20
) -> dict[str, bytes]:
    """Return the content of the members of an archive whose names have one of these endings.

    Args:
        path: A .zip, or a .tar with any compression; its name does not matter.
        endings: Which members to read.
        harmless_size: Bytes that any archive may unpack to; small archives of repeated labels
            expand more than a hundred times.
    """
    try:
        if zipfile.is_zipfile(path):
            return dict(_zip_members(path, endings, _Limits(path, harmless_size)))
        begin = _first_block(path)
        if begin.startswith(_ZIP_MAGIC):
            raise DataError("is a truncated .zip; download it again", source=path)
        if not _is_tar(begin):
            raise DataError("is neither a folder, nor a .zip, nor a .tar(.gz)", source=path)
        return _tar_members(path, endings, harmless_size)
    except (DataError, PermissionError):
        raise
    except _UNREADABLE as error:
        raise DataError(
            f"cannot be unpacked ({error}); it may be truncated: download it again", source=path
        ) from error


def _zip_members(
    path: Path, endings: tuple[str, ...], limit: "_Limits"
) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            limit.check_name(member.filename)
            limit.add(member.file_size)
            if member.filename.endswith(endings):
                limit.check_new(member.filename)
                # zipfile stops at the announced size, which was checked.
                yield member.filename, archive.read(member)


def _tar_members(path: Path, endings: tuple[str, ...], harmless_size: int) -> dict[str, bytes]:
    """Read a .tar; a hard link has the content of the member that it leads to.

    GNU tar stores a file once, and every further name of it as a link.
    """
    found, links = _read_tar(path, _Limits(path, harmless_size), endings, ())
    leads_to = {name: _end_of_links(name, links, path) for name in links if name.endswith(endings)}
    others = {target for target in leads_to.values() if target not in found}
    if others:  # under names that are not read otherwise
        more, _ = _read_tar(path, _Limits(path, harmless_size), (), others)
        found |= more
    for name, target in leads_to.items():
        if target not in found:
            raise _unusable_link(path, name, target)
        found[name] = found[target]
    return {name: content for name, content in found.items() if name.endswith(endings)}


def _read_tar(
    path: Path, limit: "_Limits", endings: tuple[str, ...], names: Container[str]
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the content of members by endings or names, and all hard links."""
    found: dict[str, bytes] = {}
    links: dict[str, str] = {}
    with _open_tar(path, limit.add) as archive:
        for member in archive:
            limit.check_name(member.name)
            wanted = member.name.endswith(endings) if endings else member.name in names
            if wanted and not member.isdir():
                limit.check_new(member.name)
                if not (member.isreg() or member.islnk()):
                    raise _unusable_link(path, member.name, member.linkname)
            if member.islnk():
                links[member.name] = member.linkname
            file = archive.extractfile(member) if wanted and member.isreg() else None
            if file is not None:
                found[member.name] = file.read()
    return found, links


def _end_of_links(name: str, links: Mapping[str, str], archive: Path) -> str:
    target, passed = links[name], {name}
    while target in links:
        if target in passed:
            raise _unusable_link(archive, name, target)
        passed.add(target)
        target = links[target]
    return target


def _unusable_link(archive: Path, name: str, target: str) -> DataError:
    to = f" to {quoted(target)}" if target else ""
    return DataError(
        f"holds {quoted(name)}, which is no file but a link or device{to}; "
        f"only hard links to files of the archive are followed: pack the files themselves",
        source=archive,
    )


@contextmanager
def _open_tar(path: Path, count: Callable[[int], None]) -> Iterator[tarfile.TarFile]:
    """Open a .tar to be read once from beginning to end.

    Args:
        path: The file.
        count: Called with the number of bytes before tarfile gets them; it raises if they are too
            many, since tarfile believes a header that claims gigabytes.

    Raises:
        tarfile.ReadError: It is not a .tar, or its end is missing.
    """
    begin = _first_block(path)
    opener = next((o for magic, o in _COMPRESSIONS.items() if begin.startswith(magic)), None)
    with path.open("rb") if opener is None else opener(path) as content:
        counted = _CountedStream(content, count)
        with tarfile.open(fileobj=counted, mode="r|", tarinfo=_StrictHeader) as archive:
            yield archive


def _first_block(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(tarfile.BLOCKSIZE)


def _is_tar(begin: bytes) -> bool:
    if begin.startswith(tuple(_COMPRESSIONS)) or begin[_TAR_MAGIC_AT:].startswith(_TAR_MAGIC):
        return True
    try:  # before 1988 there was no magic number
        tarfile.TarInfo.frombuf(begin, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


class _CountedStream(BufferedIOBase):
    """A stream that reports how much is read from it."""

    def __init__(self, content: BufferedIOBase, count: Callable[[int], None]) -> None:
        self._content = content
        self._count = count

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes, after they were counted."""
        chunk = self._content.read(size)
        self._count(len(chunk))
        return chunk


class _StrictHeader(tarfile.TarInfo):
    """A header without which reading fails: only a block of zeros ends a .tar."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Read a header; tarfile would take a missing or broken one for the end."""
        is_end = len(buf) == tarfile.BLOCKSIZE and not any(buf)
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if is_end:
                raise
            raise tarfile.ReadError(f"no end, but {error}") from error


class _Limits:
    """What an archive may hold, and how much it may unpack to."""

    def __init__(self, archive: Path, harmless_size: int) -> None:
        self.archive = archive
        self.left = max(harmless_size, _MAX_EXPANSION * archive.stat().st_size)
        self._size = 0
        self._seen: set[PurePosixPath] = set()

    def check_new(self, member: str) -> None:
        """Refuse a second member of the same name: readers differ in which one they take."""
        path = PurePosixPath(member)
        if path in self._seen:
            raise DataError(
                f"holds the member {quoted(member)} twice; pack it anew", source=self.archive
            )
        self._seen.add(path)

    def check_name(self, member: str) -> None:
        """Refuse a member outside the folder of the archive."""
        parts = PurePosixPath(member.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts:
            raise DataError(
                f"holds the member {quoted(member)}, which points outside; do not trust it",
                source=self.archive,
            )

    def add(self, size: int) -> None:
        """Count bytes, and raise when there are too many."""
        self.left -= size
        self._size += size
        check_text_size(self._size, self.archive)
        if self.left < 0:
            raise DataError(
                f"unpacks to more than {_MAX_EXPANSION} times its size, as a decompression bomb "
                f"does; if you trust it, unpack it and give the folder",
                source=self.archive,
            )
