"""Replace the parts of a Markdown page that commands write."""

from pathlib import Path


def write_between(page: Path, name: str, text: str) -> None:
    """Replace what stands between the marks ``NAME: begin`` and ``NAME: end`` of a page."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    content = page.read_text(encoding="utf-8")
    if content.count(begin) != 1 or content.count(end) != 1:
        raise ValueError(f"{page.name} needs {begin.strip()!r} and {end.strip()!r} once each")
    before, rest = content.split(begin)
    _, after = rest.split(end)
    page.write_text(f"{before}{begin}{text}\n{end}{after}", encoding="utf-8")


def markdown_table(head: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table with names on the left and numbers in all other columns."""
    rows = [head, ["---", *["--:"] * (len(head) - 1)], *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
