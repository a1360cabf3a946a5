"""Take a picture of the upper part of a report, as a browser shows it.

``make figures``, or ``python docs/figures/report.py build/demo/report.html OUT.png``.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

SIZE = {"width": 900, "height": 1010}


def main() -> None:
    page, picture = map(Path, sys.argv[1:])
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("a picture of a page needs Chromium; install Debian's package 'chromium'")
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        tab = browser.new_page(viewport=SIZE)
        tab.goto(page.resolve().as_uri())
        tab.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main()
