"""What the site adds to MkDocs: pages outside of `docs/`, commands, and equations as MathML.

README-like pages stay where people look for them in a repository (CONTRIBUTING.md, ...). Here they
become pages of the site under the same path, so that links between them mean the same in both.
Equations are written as GitHub renders them, ``$...$`` and ``$$...$$``. Browsers render MathML
themselves: no script, no font and no network is needed.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, normpath, relpath
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from typer.main import get_command

from lfds.cli.app import app

ROOT = Path(__file__).parents[2]

PAGES = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "benchmarks/README.md",
    "results/README.md",
)
"""Pages of the repository that are pages of the site."""

FOLDERS = ("benchmarks", "results", "examples")
"""Folders whose files pages may link to: they are copied to the site where a page does."""

COMMANDS = "<!-- commands -->"
"""Where a page has the reference of all commands."""

_CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", flags=re.MULTILINE | re.DOTALL)
_DISPLAY = re.compile(r"\$\$(.+?)\$\$", flags=re.DOTALL)
_INLINE = re.compile(r"(?<![\\$\w])\$(?!\s)([^$\n]+?)(?<!\s)\$(?![\w$])")
_LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add the pages of the repository, and the files that pages link to."""
    texts = [file.abs_src_path for file in files.documentation_pages()]
    found = set(PAGES)
    for text in (*map(Path, filter(None, texts)), *(ROOT / page for page in PAGES)):
        if text.suffix == ".md":
            found |= set(_linked_files(text))
    for path in sorted(found):
        if files.get_file_from_path(path) is None:
            files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    for name in ("site.css", "search-from-disk.js"):
        files.append(File.generated(config, name, abs_src_path=str(ROOT / "docs/site" / name)))
    return files


def on_post_build(config: MkDocsConfig, **_: Any) -> None:
    """Write the index of the search as a script too: a page on the disk can read no JSON."""
    folder = Path(config.site_dir, "search")
    index = (folder / "search_index.json").read_text()
    (folder / "search_index.js").write_text(f"var __index = {index}")


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Turn links out of `docs/` into links inside the site, and equations into MathML."""
    if COMMANDS in markdown:
        markdown = markdown.replace(COMMANDS, "\n".join(_reference(get_command(app), "lfds", 2)))
    # Prompts and results are marked, so that the copy button takes the code alone.
    markdown = markdown.replace("```python\n>>> ", "```pycon\n>>> ")
    return equations(_links_inside(markdown, page.file.src_uri))


def _reference(command: Any, name: str, level: int) -> Iterator[str]:
    """Describe a command with its arguments and options, and those below it, in Markdown."""
    yield f"{'#' * level} {name}\n"
    yield f"{command.help or ''}\n"
    params = [param for param in command.params if param.name != "help" and not param.hidden]
    if params:
        yield "| | | default |\n|---|---|---|"
        yield from (_row(param) for param in params)
        yield ""
    for below in sorted(getattr(command, "commands", {})):
        yield from _reference(command.commands[below], f"{name} {below}", min(level + 1, 4))


def _row(param: Any) -> str:
    option = param.param_type_name == "option"
    names = ", ".join(f"`{one}`" for one in (*param.opts, *param.secondary_opts))
    what = names if option else f"`{param.name.upper()}`"
    default = param.default
    shown = "required" if param.required else ""
    if option and default not in (None, False, (), []) and not callable(default):
        shown = f"`{default}`"
    return f"| {what} | {(param.help or '').replace('|', '&#124;')} | {shown} |"


def equations(markdown: str) -> str:
    """Return a page with its equations as MathML; code is left as it is.

    >>> "<mi>p</mi>" in equations("shares $p$ of `$p$`")
    True
    """
    parts = _CODE.split(markdown)
    for k in range(0, len(parts), 2):
        text = _DISPLAY.sub(lambda found: "\n\n" + mathml(found[1], "block") + "\n\n", parts[k])
        parts[k] = _INLINE.sub(lambda found: mathml(found[1], "inline"), text)
    return "".join(parts)


def mathml(latex: str, display: str) -> str:
    """Return an equation as MathML on one line, which Markdown leaves alone."""
    tree: str = convert(latex.strip(), display=display)
    # Markdown would read these two characters as emphasis.
    return tree.replace("\n", " ").replace("*", "&#42;").replace("_", "&#95;")


def _in_repository(source: str) -> str:
    """Return the path in the repository of a page of the site."""
    return source if source in PAGES else f"docs/{source}"


def _target(source: str, link: str) -> str:
    return normpath(f"{dirname(source)}/{link}" if dirname(source) else link)


def _linked_files(page: Path) -> list[str]:
    """Return the files of the repository, not of `docs/`, that a page links to."""
    source = page.relative_to(ROOT).as_posix()
    linked = (_target(source, found[2]) for found in _LINK.finditer(page.read_text()))
    return [path for path in linked if path.split("/")[0] in FOLDERS and (ROOT / path).is_file()]


def _links_inside(markdown: str, source: str) -> str:
    """Rewrite relative links for the place that a page has on the site."""
    place = _in_repository(source)

    def rewritten(found: re.Match[str]) -> str:
        link, anchor = found[2], found[3] or ""
        if "://" in link or link.startswith("mailto:"):
            return found[0]
        target = _target(place, link)
        if target == "README.md":
            target = "docs/index.md"
        inside = target.removeprefix("docs/")
        return f"{found[1]}{relpath(inside, dirname(source) or '.')}{anchor})"

    parts = _CODE.split(markdown)
    return "".join(part if k % 2 else _LINK.sub(rewritten, part) for k, part in enumerate(parts))
