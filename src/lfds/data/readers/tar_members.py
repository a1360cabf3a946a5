"""A .tar as a stream that is counted: what it unpacks to, and whether it ends as one should."""

import bz2
import gzip
import lzma
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path
from typing import Self

PACKINGS: Mapping[bytes, type[gzip.GzipFile] | type[bz2.BZ2File] | type[lzma.LZMAFile]] = {
    b"\x1f\x8b": gzip.GzipFile,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
"""How a .tar may be packed, by the first bytes of the file."""


@contextmanager
def open_tar(path: Path, spend: Callable[[int], None]) -> Iterator[tarfile.TarFile]:
    """Open a .tar, packed or not, to be read once from beginning to end.

    Args:
        path: The file.
        spend: Told of all bytes before the reader sees them; raises where they are too many. The
            reader believes a header, which may claim a name of gigabytes.

    Raises:
        tarfile.ReadError: It is no .tar, or it lacks its end.
    """
    with path.open("rb") as file:
        begin = file.read(8)
    unpack = next((u for magic, u in PACKINGS.items() if begin.startswith(magic)), None)
    with path.open("rb") if unpack is None else unpack(path) as content:
        counted = _Counted(content, spend)
        with tarfile.open(fileobj=counted, mode="r|", tarinfo=_Header) as archive:
            yield archive


class _Counted(BufferedIOBase):
    """A stream that tells how much is read from it."""

    def __init__(self, content: BufferedIOBase, spend: Callable[[int], None]) -> None:
        self._content = content
        self._spend = spend

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes, after they were counted."""
        some = self._content.read(size)
        self._spend(len(some))
        return some


class _Header(tarfile.TarInfo):
    """A header that must be there: only a block of zeros ends a .tar."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Read a header, where the reader would take a missing or broken one for the end."""
        is_end = len(buf) == tarfile.BLOCKSIZE and not any(buf)
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if is_end:
                raise
            raise tarfile.ReadError(f"no end, but {error}") from error
