"""The raw files of a TU dataset, out of a folder, a .zip or a .tar, without unpacking to disk."""

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lfds.data.errors import DataError, quoted

ENDINGS = {
    "A": "_A.txt",
    "graph_indicator": "_graph_indicator.txt",
    "graph_labels": "_graph_labels.txt",
    "graph_attributes": "_graph_attributes.txt",
    "node_labels": "_node_labels.txt",
    "node_attributes": "_node_attributes.txt",
    "edge_labels": "_edge_labels.txt",
    "edge_attributes": "_edge_attributes.txt",
    "names": "_names.json",
}
# Text of numbers packs 4 to 20 times; small archives of repeated labels pack better than that.
_HARMLESS_BYTES = 512 * 2**20
_MOST_EXPANSION = 100
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


@dataclass(frozen=True)
class RawFiles:
    """The content of a dataset's files.

    Attributes:
        home: The folder or archive they are in.
        name: What the dataset calls itself: the beginning of its file names.
        content: The bytes of each of ``ENDINGS`` that is there.
        place: Where each of them was found, for messages.
    """

    home: str
    name: str
    content: Mapping[str, bytes]
    place: Mapping[str, str]

    def required(self, part: str) -> tuple[bytes, str]:
        """Return content and place of a part no dataset can be without."""
        if part not in self.content:
            raise DataError(f"lacks the file {self.name}_{part}.txt", source=self.home)
        return self.content[part], self.place[part]


def read_raw(path: Path) -> RawFiles:
    """Read the raw files at ``path``: a folder with ``NAME_A.txt`` and so on, or an archive."""
    if path.is_dir():
        return _read_folder(path)
    if not path.exists():
        raise DataError("is not there; give a folder, a .zip or a .tar(.gz)", source=path)
    try:
        if zipfile.is_zipfile(path):
            return _from_members(path, dict(_zip_members(path)))
        if tarfile.is_tarfile(path):
            return _from_members(path, dict(_tar_members(path)))
    except DataError:
        raise
    except _UNREADABLE as error:
        problem = f"cannot be unpacked ({error}); it may be cut short: fetch it again"
        raise DataError(problem, source=path) from error
    if _begins_like_an_archive(path):
        raise DataError("is an archive that was cut short; fetch it again", source=path)
    raise DataError("is neither a folder, nor a .zip, nor a .tar(.gz)", source=path)


def _begins_like_an_archive(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4).startswith((b"PK\x03\x04", b"\x1f\x8b"))


def tu_home(folder: Path) -> Path | None:
    """Return where in ``folder`` the files of a TU dataset are, if they are."""
    # PyG keeps the files of a dataset in a folder called raw.
    return next((home for home in (folder, folder / "raw") if any(home.glob("*_A.txt"))), None)


def _read_folder(folder: Path) -> RawFiles:
    home = tu_home(folder) or folder
    name = _common_name([file.name for file in home.glob("*_A.txt")], folder)
    content, place = {}, {}
    for part, ending in ENDINGS.items():
        file = home / (name + ending)
        if file.exists():
            place[part] = str(file)
            content[part] = _read_file(file)
    return RawFiles(str(home), name, content, place)


def _read_file(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", source=file) from error


def _from_members(archive: Path, members: Mapping[str, bytes]) -> RawFiles:
    by_name = {PurePosixPath(member).name: member for member in members}
    name = _common_name([file for file in by_name if file.endswith("_A.txt")], archive)
    found = {part: by_name.get(name + ending) for part, ending in ENDINGS.items()}
    return RawFiles(
        str(archive),
        name,
        {part: members[member] for part, member in found.items() if member},
        {part: f"{archive}/{member}" for part, member in found.items() if member},
    )


def _common_name(adjacency_files: list[str], source: Path) -> str:
    if not adjacency_files:
        raise DataError(
            "holds no file NAME_A.txt, as every dataset of the TU collection does", source=source
        )
    if len(adjacency_files) > 1:
        found = ", ".join(sorted(adjacency_files)[:3])
        raise DataError(f"holds more than one dataset: {found}; give one of them", source=source)
    return adjacency_files[0].removesuffix("_A.txt")


def _zip_members(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        budget = _Budget(path)
        for member in archive.infolist():
            budget.admit(member.filename, member.file_size)
            if _is_wanted(member.filename):
                with archive.open(member) as file:
                    # One byte more than promised would show that the promise was false.
                    yield member.filename, file.read(member.file_size + 1)


def _tar_members(path: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        budget = _Budget(path)
        for member in archive:
            budget.admit(member.name, member.size)
            file = archive.extractfile(member) if member.isreg() else None
            if file is not None and _is_wanted(member.name):
                yield member.name, file.read()


def _is_wanted(member: str) -> bool:
    return member.endswith(tuple(ENDINGS.values()))


class _Budget:
    """How much an archive may unpack to before it is taken for a bomb."""

    def __init__(self, archive: Path) -> None:
        self.archive = archive
        self.left = max(_HARMLESS_BYTES, _MOST_EXPANSION * archive.stat().st_size)

    def admit(self, member: str, size: int) -> None:
        """Refuse a member that reaches out of the archive's folder, or is too much."""
        parts = PurePosixPath(member.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts:
            raise DataError(
                f"holds the member {quoted(member)}, which points outside; do not trust it",
                source=self.archive,
            )
        self.left -= size
        if self.left < 0:
            raise DataError(
                f"unpacks to more than {_MOST_EXPANSION} times its size, as a bomb does; "
                f"if you trust it, unpack it and give the folder",
                source=self.archive,
            )
