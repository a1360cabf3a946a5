"""Fetching a file over HTTP: resumed where it broke off, checked, in place only when whole."""

import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from lfds.data.errors import DataError

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the bytes that are here and the bytes there will be, where that is known."""

_CHUNK = 1 << 16
_PATIENCE = 30.0
_RANGE_NOT_SATISFIABLE = 416
_PARTIAL_CONTENT = 206
_SERVER_ERROR = 500


def fetch(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    check: Callable[[Path], None] = lambda _: None,
    progress: Progress = lambda _here, _total: None,
    attempts: int = 5,
    pause: float = 1.0,
) -> str:
    """Fetch ``url`` to ``target`` and return its SHA-256.

    What arrived before a connection broke is kept in a hidden file beside ``target``, in this
    call and for the next one; a server that has another version by then starts from the beginning.

    Args:
        url: An address that begins with http:// or https://.
        target: The file to make; it is there only when everything was in order.
        sha256: What its SHA-256 must be, where that is known.
        check: Raises if the content cannot be used; called before the file is put in place.
        progress: Told how far it is.
        attempts: Tries without a single new byte before giving up.
        pause: Seconds before the second try; each further wait is twice as long.
    """
    if not url.startswith(("http://", "https://")):
        raise DataError("needs an address that begins with http:// or https://", source=url)
    part = _Part(target)
    failures = 0
    while True:
        before = part.size
        try:
            if _receive(url, part, progress):
                return _accept(part, target, url, sha256, check)
            problem = "the connection broke off"
        except urllib.error.HTTPError as error:
            if error.code < _SERVER_ERROR:
                raise DataError(
                    f"the server says {error.code} {error.reason}", source=url
                ) from None
            problem = f"the server says {error.code} {error.reason}"
        except (OSError, http.client.HTTPException) as error:
            problem = str(getattr(error, "reason", None) or error or type(error).__name__)
        failures = failures + 1 if part.size <= before else 1
        if failures >= attempts:
            raise DataError(f"cannot be fetched ({problem})", source=url)
        time.sleep(pause * 2 ** (failures - 1))


class _Part:
    """What has arrived so far, and the version of the file it belongs to."""

    def __init__(self, target: Path) -> None:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"cannot be made ({error.strerror})", source=target.parent) from error
        self.path = target.with_name(f".{target.name}.part")
        self._version = target.with_name(f".{target.name}.version")

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    @property
    def version(self) -> str:
        known = self._version.read_text(encoding="utf-8") if self._version.exists() else ""
        return known if known.isprintable() else ""

    def begin(self, version: str) -> None:
        self.path.write_bytes(b"")
        self._version.write_text(version, encoding="utf-8")

    def forget(self) -> None:
        self.path.unlink(missing_ok=True)
        self._version.unlink(missing_ok=True)


def _receive(url: str, part: _Part, progress: Progress) -> bool:
    """Ask for what is still missing and append it; return whether all of it is here now."""
    request = urllib.request.Request(url, headers={"User-Agent": "lfds"})
    # Without a version to compare, old and new bytes might not belong together.
    if part.size and part.version:
        request.add_header("Range", f"bytes={part.size}-")
        request.add_header("If-Range", part.version)
    try:
        response = urllib.request.urlopen(request, timeout=_PATIENCE)
    except urllib.error.HTTPError as error:
        if error.code != _RANGE_NOT_SATISFIABLE:
            raise
        # Nothing lies beyond what is here, though it was not known to be whole: begin again.
        part.forget()
        return False
    with response:
        if response.status != _PARTIAL_CONTENT:
            part.begin(response.headers.get("ETag") or response.headers.get("Last-Modified") or "")
        length = response.headers.get("Content-Length")
        total = part.size + int(length) if length is not None and length.isdigit() else None
        here = part.size
        progress(here, total)
        with part.path.open("ab") as file:
            while chunk := response.read(_CHUNK):
                file.write(chunk)
                here += len(chunk)
                progress(here, total)
    return total is None or here == total


def _accept(
    part: _Part, target: Path, url: str, sha256: str | None, check: Callable[[Path], None]
) -> str:
    with part.path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    try:
        if sha256 is not None and found != sha256.lower():
            raise DataError(
                f"has the SHA-256 {found} where {sha256} is needed; nothing was kept", source=url
            )
        check(part.path)
    except DataError:
        part.forget()
        raise
    os.replace(part.path, target)
    part.forget()
    return found
