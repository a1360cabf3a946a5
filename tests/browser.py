"""Pages opened as a person would, in a headless Chromium that tells what it heard and fetched."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PHONE = (390, 844)
DESKTOP = (1280, 900)

# As root in a container there is no sandbox; the rest keeps Chromium's own errands off the net.
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Opened:
    """A page, and everything it said or asked for since it was opened.

    Attributes:
        page: Playwright's page.
        messages: What was written to the console, and errors nobody caught.
        requests: Addresses asked for beside the page itself.
    """

    page: "Page"
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than its window."""
        width: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return width

    def darkest_at_the_side(self, what: str) -> int:
        """Return how far the upper right corner of an element is from white, from 0 to 255."""
        image = pytest.importorskip("PIL.Image", reason="comes with matplotlib")
        corner = self.page.locator(what).first
        corner.scroll_into_view_if_needed()
        with image.open(BytesIO(corner.screenshot())) as picture:
            strip = picture.convert("L").crop((picture.width - 4, 1, picture.width - 1, 3))
            return 255 - int(min(strip.tobytes()))

    def focused(self, what: str = "id") -> str:
        """Return a property of the element that has the focus."""
        return str(self.page.evaluate("name => document.activeElement[name]", what))


Open = Callable[..., Opened]


def find_chromium() -> str | None:
    """Return the path of an installed Chromium or Chrome."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator["Browser"]:
    """One Chromium for all tests of a process."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs pip install lfds[browser]")
    path = find_chromium()
    if path is None:
        pytest.skip("no chromium here: install Debian's package 'chromium', or Chrome")
    with sync_api.sync_playwright() as playwright:
        process = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield process
        process.close()


@pytest.fixture
def browser(chromium: "Browser") -> Iterator[Open]:
    """Return a function that opens a file and tells what came of it.

    ``opened = browser(path, size=PHONE, color_scheme="dark")``; further options are those of a
    playwright context. Then ``opened.page``, ``opened.messages`` and ``opened.requests``.
    """
    contexts = []

    def open_page(path: Path, size: tuple[int, int] = DESKTOP, **options: Any) -> Opened:
        viewport = {"width": size[0], "height": size[1]}
        contexts.append(chromium.new_context(viewport=viewport, **options))
        page = contexts[-1].new_page()
        opened = Opened(page)
        address = path.resolve().as_uri()
        page.on("console", lambda message: opened.messages.append(message.text))
        page.on("pageerror", lambda error: opened.messages.append(str(error)))
        page.on(
            "request",
            lambda request: (
                opened.requests.append(request.url)
                if request.url.partition("#")[0] != address
                else None
            ),
        )
        page.goto(address)
        return opened

    yield open_page
    for context in contexts:
        context.close()
