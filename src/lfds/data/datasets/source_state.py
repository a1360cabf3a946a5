"""Whether the files a prepared set was made from are still the ones it was made from."""

import hashlib
from pathlib import Path

from lfds.data.readers.tu_files import ENDINGS, tu_home

SOURCE_STATE = "source_state"
"""The entry of ``provenance`` in which a prepared set keeps the state of its source."""


def source_state(source: Path) -> str:
    """Return a fingerprint of name, size and time of each file of a TU folder or archive.

    Reading the files themselves would take longer than the prepared set saves. A time is compared
    for equality, not for age: an older file that takes the place of a newer one is a change too.
    """
    digest = hashlib.sha256()
    for file in _files(source):
        facts = file.stat()
        digest.update(f"{file.name!r} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        return [source]
    home = tu_home(source) or source
    return sorted(file for file in home.iterdir() if file.name.endswith(tuple(ENDINGS.values())))
