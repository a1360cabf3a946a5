"""The command ``lfds report``: from folders of results to a page, tables and figures."""

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lfds.results.errors import ResultsError

if TYPE_CHECKING:
    from lfds.report.report import Report
    from lfds.results.record import Rule

FORMATS = ("html", "md", "tex", "csv")
PAGE = "report.html"


def report(
    run: Annotated[
        list[Path],
        typer.Argument(metavar="RUN", help="Folders of results, or files of records."),
    ],
    form: Annotated[
        str, typer.Option("--format", help="html (a page), md, tex or csv (tables).")
    ] = "html",
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Where to write; a page goes into the run's folder."),
    ] = None,
    rule: Annotated[
        str | None, typer.Option(help="The rule that tables are by, and pages begin with.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Folder for the figures, as PNG and SVG.")
    ] = None,
) -> None:
    """Show what runs found: the table, the folds, the curves, the costs and what went wrong."""
    _check(form, FORMATS, "format")
    page = _page_at(run, out) if form == "html" else None
    _spare_inputs(run, page or out)
    # numpy, scipy and matplotlib take a while to import; a misspelt option does not wait for them.
    from lfds.report.report import make_report

    made = make_report(run)
    if rule is not None:
        _check(rule, made.rules, "rule in these results")
    chosen: Rule = next(r for r in made.rules if rule in (None, r))
    content = _content(made, form, chosen, every=rule is None)
    if figures is not None:
        _write_figures(made, figures)
    if page is not None or out is not None:
        _write(page or out, content)
    else:
        typer.echo(content, nl=False)


def _check(name: str, known: Iterable[str], what: str) -> None:
    known = tuple(known)
    if name not in known:
        near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ResultsError(f"no {what} is called {name!r}; {hint}choose from {', '.join(known)}")


def _page_at(run: list[Path], out: Path | None) -> Path:
    if out is not None:
        return out
    if len(run) > 1:
        raise ResultsError("a page about several runs needs a place; name one with -o FILE")
    if run[0].is_dir():
        return run[0] / PAGE
    return run[0].with_name(f"{run[0].name.split('.')[0]}.html")


def _spare_inputs(run: list[Path], out: Path | None) -> None:
    """Refuse to write over what is read: records cannot be had again but by running all folds."""
    from lfds.report.run_spec import SPEC
    from lfds.results.store import PACKED, RECORDS

    for given in run:
        inside = (given / RECORDS, given / PACKED, given / SPEC)
        for path in inside if given.is_dir() else (given, given.with_name(SPEC)):
            if out is not None and path.exists() and out.exists() and path.samefile(out):
                raise ResultsError(
                    "is read for this report and would be lost; name another file with -o",
                    source=out,
                )


def _content(made: "Report", form: str, rule: "Rule", *, every: bool) -> str:
    from lfds.report.html import page
    from lfds.report.text_tables import comma_separated, latex, markdown

    if form == "html":
        return page(made, rule)
    if form == "csv":
        return comma_separated([s for s in made.standings if every or s.rule == rule])
    return (markdown if form == "md" else latex)(made.by(rule))


def _write_figures(made: "Report", folder: Path) -> None:
    from lfds.report.figures.draw import all_drawings
    from lfds.report.figures.files import KINDS, as_file
    from lfds.report.figures.style import styled

    count = 0
    with styled():
        for standing in made.standings:
            for drawing in all_drawings(standing):
                for kind in KINDS:
                    _put(folder / f"{drawing.name}.{kind}", as_file(drawing, kind))
                count += 1
    typer.echo(f"{count} figures, as PNG and SVG, are in {folder}", err=True)


def _write(path: Path | None, content: str) -> None:
    assert path is not None
    _put(path, content.encode())
    typer.echo(f"{path}")


def _put(path: Path, content: bytes) -> None:
    from lfds.data.atomic_io import atomic_write

    atomic_write(path, content)
