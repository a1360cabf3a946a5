"""Downloads over HTTP: resumed after interruptions, checked, and complete or not there."""

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
"""Called with the number of bytes received and the total, if known."""

_CHUNK = 1 << 16
_TIMEOUT = 30.0
_RANGE_NOT_SATISFIABLE = 416
_PARTIAL_CONTENT = 206
_SERVER_ERROR = 500


def download_file(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    check: Callable[[Path], None] = lambda _: None,
    progress: Progress = lambda _received, _total: None,
    attempts: int = 5,
    pause: float = 1.0,
) -> str:
    """Download ``url`` to ``target`` and return its SHA-256.

    After a broken connection the bytes received are kept in a hidden file beside ``target``, and
    this call or the next one resumes there, unless the file on the server has changed.

    Args:
        url: An address that begins with http:// or https://.
        target: The file to write; it exists only after all checks.
        sha256: Expected SHA-256; ``None`` does not check it.
        check: Called with the downloaded file; raises if its content is invalid.
        progress: Called with the progress.
        attempts: Number of attempts without a new byte before giving up.
        pause: Seconds before the second attempt; each further pause is twice as long.
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
            problem = "the connection was interrupted"
        except urllib.error.HTTPError as error:
            if error.code < _SERVER_ERROR:
                raise DataError(
                    f"the server answered {error.code} {error.reason}", source=url
                ) from None
            problem = f"the server answered {error.code} {error.reason}"
        except (OSError, http.client.HTTPException) as error:
            problem = str(getattr(error, "reason", None) or error or type(error).__name__)
        failures = failures + 1 if part.size <= before else 1
        if failures >= attempts:
            raise DataError(f"cannot be downloaded ({problem})", source=url)
        time.sleep(pause * 2 ** (failures - 1))


class _Part:
    """The bytes received so far, and the version of the file on the server."""

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
        text = self._version.read_text(encoding="utf-8") if self._version.exists() else ""
        return text if text.isprintable() else ""

    def begin(self, version: str) -> None:
        self.path.write_bytes(b"")
        self._version.write_text(version, encoding="utf-8")

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)
        self._version.unlink(missing_ok=True)


def _receive(url: str, part: _Part, progress: Progress) -> bool:
    """Request the missing bytes and append them; return whether the file is complete."""
    request = urllib.request.Request(url, headers={"User-Agent": "lfds"})
    # Without a version to compare, old and new bytes might not belong together.
    if part.size and part.version:
        request.add_header("Range", f"bytes={part.size}-")
        request.add_header("If-Range", part.version)
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != _RANGE_NOT_SATISFIABLE:
            raise
        # There are no further bytes, though the file was not complete: start again.
        part.delete()
        return False
    with response:
        if response.status != _PARTIAL_CONTENT:
            part.begin(response.headers.get("ETag") or response.headers.get("Last-Modified") or "")
        length = response.headers.get("Content-Length")
        total = part.size + int(length) if length is not None and length.isdigit() else None
        received = part.size
        progress(received, total)
        with part.path.open("ab") as file:
            while chunk := response.read(_CHUNK):
                file.write(chunk)
                received += len(chunk)
                progress(received, total)
    return total is None or received == total


def _accept(
    part: _Part, target: Path, url: str, sha256: str | None, check: Callable[[Path], None]
) -> str:
    with part.path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    try:
        if sha256 is not None and found != sha256.lower():
            raise DataError(
                f"has the SHA-256 {found} where {sha256} is needed; it was deleted", source=url
            )
        check(part.path)
    except DataError:
        part.delete()
        raise
    os.replace(part.path, target)
    part.delete()
    return found
