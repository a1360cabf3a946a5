"""What people have to say of the results, kept apart from what is written by the command."""

import re
from collections.abc import Iterable
from pathlib import Path

from lfds.results.errors import ResultsError


def read_notes(path: Path, known: Iterable[str]) -> dict[str, str]:
    """Return the sections of a Markdown file by their headings; no file is no notes.

    Args:
        path: Sections begin with ``## NAME``; what stands before the first is for its readers.
        known: The parts of the page; a section for none of them is refused, not left out.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ResultsError(f"cannot be read ({error})", source=path) from error
    _, *rest = re.split(r"^## +(.*?)\s*$", text, flags=re.MULTILINE)
    known = list(known)
    found: dict[str, str] = {}
    for name, content in zip(rest[::2], rest[1::2], strict=True):
        if name not in known:
            raise ResultsError(
                f"no part of the page is called {name!r}; choose from {', '.join(known)}",
                source=path,
            )
        found[name] = "\n\n".join(filter(None, [found.get(name), content.strip()]))
    return {name: content for name, content in found.items() if content}
