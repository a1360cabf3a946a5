"""The raw files of a TU dataset, out of a folder, a .zip or a .tar, without unpacking to disk."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lfds.data.errors import DataError, reading
from lfds.data.readers.archives import read_members

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

    def fingerprint(self) -> str:
        """Return a SHA-256 of all content, however it was packed."""
        digest = hashlib.sha256()
        for part in sorted(self.content):
            digest.update(f"{part} {len(self.content[part])}\n".encode())
            digest.update(self.content[part])
        return digest.hexdigest()


def read_raw(path: Path) -> RawFiles:
    """Read the raw files at ``path``: a folder with ``NAME_A.txt`` and so on, or an archive."""
    with reading(path):
        if path.is_dir():
            return _read_folder(path)
        if not path.exists():
            raise DataError("is not there; give a folder, a .zip or a .tar(.gz)", source=path)
        return _from_members(path, read_members(path, endings=tuple(ENDINGS.values())))


def tu_home(folder: Path) -> Path | None:
    """Return where in ``folder`` the files of a TU dataset are, if they are."""
    # PyG keeps the files of a dataset in a folder called raw.
    return next((home for home in (folder, folder / "raw") if _adjacency_files(home)), None)


def _read_folder(folder: Path) -> RawFiles:
    home = tu_home(folder) or folder
    name = _common_name([file.name for file in _adjacency_files(home)], folder)
    content, place = {}, {}
    for part, ending in ENDINGS.items():
        file = home / (name + ending)
        if file.exists():
            place[part] = str(file)
            content[part] = file.read_bytes()
    return RawFiles(str(home), name, content, place)


def _adjacency_files(home: Path) -> list[Path]:
    return [file for file in home.glob("*_A.txt") if not _is_hidden(file.name)]


def _is_hidden(member: str) -> bool:
    """Whether a file is no part of a dataset: some systems put shadows of files beside them."""
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(member).parts)


def _from_members(archive: Path, members: Mapping[str, bytes]) -> RawFiles:
    adjacency = [m for m in members if m.endswith("_A.txt") and not _is_hidden(m)]
    name = PurePosixPath(_common_name(adjacency, archive)).name
    # Only the folder of NAME_A.txt counts: an archive may hold other versions in others.
    home = PurePosixPath(adjacency[0]).parent
    by_path = {PurePosixPath(member): member for member in members}
    found = {part: by_path.get(home / (name + ending)) for part, ending in ENDINGS.items()}
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
