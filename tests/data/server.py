"""A local web server that cuts connections, changes its file, and records requests."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """Serves one file at every path except those that begin with /no.

    Attributes:
        content: The file.
        version: Its ETag; empty for none.
        cuts: Number of bytes after which each of the next responses is cut.
        errors: Status of each of the next responses.
        headers: More headers of each response.
        redirect: Where each response redirects to.
        sends_length: Whether responses have a Content-Length.
        ranges: The Range header of each request so far.
    """

    daemon_threads = True

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.content = content
        self.version = '"one"'
        self.cuts: list[int] = []
        self.errors: list[int] = []
        self.headers: dict[str, str] = {}
        self.redirect = ""
        self.sends_length = True
        self.ranges: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server, wanted = self.server, self.headers.get("Range")
        server.ranges.append(wanted)
        if server.errors or self.path.startswith("/no"):
            self.send_error(server.errors.pop(0) if server.errors else 404)
            return
        if server.redirect:
            self.send_response(302)
            self.send_header("Location", server.redirect)
            self.end_headers()
            return
        start = 0
        if wanted and self.headers.get("If-Range") == server.version:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(server.content):
                self.send_error(416)
                return
        body = server.content[start:]
        self.send_response(206 if start else 200)
        if server.sends_length:
            self.send_header("Content-Length", str(len(body)))
        headers = {"Content-Range": f"bytes {start}-{len(server.content) - 1}/*"} if start else {}
        for name, value in (headers | server.headers).items():
            self.send_header(name, value)
        if server.version:
            self.send_header("ETag", server.version)
        self.end_headers()
        self.wfile.write(body[: server.cuts.pop(0)] if server.cuts else body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def serving(content: bytes) -> Iterator[Server]:
    """Serve ``content`` until the block ends."""
    with Server(content) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
