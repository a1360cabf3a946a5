"""The page of the package: README.md with links that work outside of the repository.

The address of the repository is one setting, `Source` in `[project.urls]` of pyproject.toml. While
there is none, relative links become their text, and pictures are left out.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]+\)\n\n(?:\*[^*].*\*\n\n)?", flags=re.MULTILINE)
"""A picture on a line of its own, and its caption."""

_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)")


def with_absolute_links(page: str, address: str, version: str) -> str:
    r"""Return a page of Markdown whose relative links lead to a version of a repository.

    >>> with_absolute_links("[a](b.md#c) ![d](e.png)", "https://host.example/lfds", "1.0")
    '[a](https://host.example/lfds/blob/v1.0/b.md#c) ![d](https://host.example/lfds/raw/v1.0/e.png)'
    >>> page = "![a](b.png)\n\n*Caption.*\n\n[c](d.md) [e](https://f.example)"
    >>> with_absolute_links(page, "", "1.0")
    'c [e](https://f.example)'
    """

    def absolute(found: re.Match[str]) -> str:
        if "://" in found["target"] or found["target"].startswith("#"):
            return found[0]
        if not address:
            return found["text"]
        folder = "raw" if found["picture"] else "blob"
        place = f"{address.rstrip('/')}/{folder}/v{version}/{found['target']}"
        return f"{found['picture']}[{found['text']}]({place})"

    return _LINK.sub(absolute, page if address else _PICTURE.sub("", page))


class AbsoluteLinks(MetadataHookInterface):
    """Makes the description of the package from README.md."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the description."""
        root, address = Path(self.root), metadata.get("urls", {}).get("Source", "")
        source = (root / "src" / "lfds" / "__init__.py").read_text()
        found = re.search(r'^__version__ = "([^"]+)"', source, flags=re.MULTILINE)
        if found is None:
            raise ValueError("src/lfds/__init__.py names no __version__")
        text = with_absolute_links((root / "README.md").read_text(), address, found[1])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
