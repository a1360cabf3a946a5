"""Downloads over HTTP: resumed after interruptions, checked, and complete or not there."""

import glob
import hashlib
import http.client
import os
import re
import shutil
import stat
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Any, BinaryIO, TypeAlias
from urllib.parse import urlsplit

from lfds.data.atomic_io import make_folder
from lfds.data.errors import DataError, quoted
from lfds.data.temporary import lock

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the number of bytes received and the total, if known."""

MAX_SIZE = 2 * 10**9
"""Most bytes of a download, unless given."""

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
    max_size: int = MAX_SIZE,
    check: Callable[[Path], None] = lambda _: None,
    progress: Progress = lambda _received, _total: None,
    attempts: int = 5,
    pause: float = 1.0,
) -> str:
    """Download ``url`` to ``target`` and return its SHA-256.

    After a broken connection the bytes received are kept in a hidden folder beside ``target``, and
    this call or the next one resumes there, unless the file on the server has changed. A redirect
    from https to anything else is not followed.

    Args:
        url: An address that begins with http:// or https://.
        target: The file to write; it exists only after all checks.
        sha256: Expected SHA-256; ``None`` does not check it.
        max_size: Most bytes, whatever the server announces.
        check: Called with the downloaded file; raises if its content is invalid.
        progress: Called with the progress.
        attempts: Number of attempts without a new byte before giving up.
        pause: Seconds before the second attempt; each further pause is twice as long.
    """
    if not url.startswith(("http://", "https://")):
        raise DataError("needs an address that begins with http:// or https://", source=url)
    _check_address(url)
    limit = _Limit(url, max_size)
    failures = 0
    with closing(_Part(target)) as part:
        while True:
            before = part.size
            problem = _attempt(url, part, limit, progress)
            if problem is None:
                return _accept(part, target, url, sha256, check)
            failures = failures + 1 if part.size <= before else 1
            if failures >= attempts:
                raise DataError(f"cannot be downloaded ({problem})", source=url)
            time.sleep(pause * 2 ** (failures - 1))


def _check_address(url: str) -> None:
    """Raise for what no server can have as its address: another attempt would not help."""
    try:
        parts = urlsplit(url)
        problem = None if parts.hostname and parts.port != 0 else "it names no host and port"
    except ValueError as error:
        problem = str(error)
    if problem is not None:
        raise DataError(f"invalid address ({problem}); use https://HOST/...", source=url)


def _attempt(url: str, part: "_Part", limit: "_Limit", progress: Progress) -> str | None:
    """Receive what is missing; return why it may be worth another attempt, or None at the end."""
    try:
        return None if _receive(url, part, limit, progress) else "the connection was interrupted"
    except DataError:
        part.delete()
        raise
    except urllib.error.HTTPError as error:
        problem = f"the server answered {error.code} {error.reason}"
        if error.code < _SERVER_ERROR:
            raise DataError(problem, source=url) from None
        return problem
    except http.client.InvalidURL as error:
        raise DataError(f"invalid address ({error}); use https://HOST/...", source=url) from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        return str(getattr(error, "reason", None) or error or type(error).__name__)


@dataclass(frozen=True)
class _Limit:
    """The largest size of a download."""

    url: str
    size: int

    def check(self, size: int) -> None:
        if size > self.size:
            raise DataError(
                f"has more than {self.size / 1e6:,.0f} MB, the most that is downloaded; "
                f"if you trust it, download it yourself",
                source=self.url,
            )


class _Part:
    """The bytes received so far, and the version of the file on the server.

    They are in a private folder of this user with a random name: nobody else can put a file or a
    link there. It is locked while it is used: two downloads at a time have two folders.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        try:
            make_folder(target.parent)
            self._folder, self._descriptor = self._earlier() or self._new()
        except OSError as error:
            raise DataError(f"cannot be made ({error.strerror})", source=target.parent) from error
        self.path = self._folder / "content"
        self._version = self._folder / "version"

    def _earlier(self) -> tuple[Path, int] | None:
        """Return the folder of an interrupted download, if it is a folder of this user."""
        for folder in sorted(self._target.parent.glob(f".{glob.escape(self._target.name)}-*.part")):
            facts = folder.lstat()
            if stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid():
                descriptor = self._locked(folder)
                if descriptor is not None:
                    return folder, descriptor
        return None

    def _new(self) -> tuple[Path, int]:
        while True:
            made = Path(mkdtemp(".part", f".{self._target.name}-", self._target.parent))
            descriptor = self._locked(made)
            if descriptor is not None:  # otherwise another process took it at once
                return made, descriptor

    @staticmethod
    def _locked(folder: Path) -> int | None:
        """Lock a folder; return None if another process uses it, or has just deleted it."""
        with suppress(FileNotFoundError):
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(folder, flags)
            if lock(descriptor, folder):
                return descriptor
            os.close(descriptor)
        return None

    @property
    def size(self) -> int:
        try:
            facts = self.path.lstat()
        except FileNotFoundError:
            return 0
        return facts.st_size if stat.S_ISREG(facts.st_mode) else 0

    @property
    def version(self) -> str:
        text = self._version.read_text(encoding="utf-8") if self._version.exists() else ""
        return text if text.isprintable() else ""

    def begin(self, version: str) -> None:
        """Start again with an empty file."""
        self.remove_files()
        self._version.write_text(version, encoding="utf-8")

    def append(self) -> BinaryIO:
        """Open the file to append to it; a link is not followed."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        # Unlike its folder, the file has the permissions of the umask: it is moved to its place.
        return os.fdopen(os.open(self.path, flags, 0o666), "ab")

    def remove_files(self) -> None:
        self.path.unlink(missing_ok=True)
        self._version.unlink(missing_ok=True)

    def close(self) -> None:
        """Let the next download go on with these bytes, if there are any."""
        if not self.size:
            self.delete()
        os.close(self._descriptor)

    def delete(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


class _SameScheme(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but not from https to http or to any other scheme."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any,
        newurl: str,
    ) -> urllib.request.Request | None:  # fmt: skip
        scheme = urlsplit(newurl).scheme
        if scheme != "https" and scheme != req.type:
            raise DataError(
                f"the server redirects to {quoted(newurl)}, which is not https; it is not followed",
                source=req.full_url,
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _receive(url: str, part: _Part, limit: _Limit, progress: Progress) -> bool:
    """Request the missing bytes and append them; return whether the file is complete."""
    request = urllib.request.Request(url, headers={"User-Agent": "lfds"})
    # Without a version to compare, old and new bytes might not belong together.
    if part.size and part.version:
        request.add_header("Range", f"bytes={part.size}-")
        request.add_header("If-Range", part.version)
    opener = urllib.request.build_opener(_SameScheme)
    try:
        response = opener.open(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != _RANGE_NOT_SATISFIABLE:
            raise
        # There are no further bytes, though the file was not complete: start again.
        part.remove_files()
        return False
    with response:
        if response.status != _PARTIAL_CONTENT:
            part.begin(response.headers.get("ETag") or response.headers.get("Last-Modified") or "")
        elif _first_byte(response.headers.get("Content-Range")) != part.size:
            part.remove_files()  # other bytes than were requested
            return False
        length = _length(response.headers.get("Content-Length"))
        total = None if length is None else part.size + length
        received = part.size
        limit.check(received if total is None else total)
        progress(received, total)
        with part.append() as file:
            while chunk := response.read(_CHUNK):
                received += len(chunk)
                limit.check(received)
                file.write(chunk)
                progress(received, total)
    return total is None or received == total


def _length(announced: str | None) -> int | None:
    """Return the announced length; None where there is none, or nonsense."""
    plain = announced is not None and re.fullmatch("[0-9]{1,18}", announced) is not None
    return int(announced) if announced is not None and plain else None


def _first_byte(content_range: str | None) -> int | None:
    """Return where the bytes of an answer begin, of ``bytes 100-199/200``."""
    found = re.match(r"bytes ([0-9]{1,18})-", content_range or "")
    return None if found is None else int(found[1])


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
    except DataError as error:
        part.delete()
        if error.source != part.path:
            raise
        # What was received is gone: only its address is of use.
        raise DataError(f"was received, but {error.problem}", source=url) from error
    os.replace(part.path, target)
    part.delete()
    return found
