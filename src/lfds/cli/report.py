"""The command ``lfds report``: from folders of results to a page, tables and figures."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lfds.config.messages import choose_from
from lfds.report.figures import FIGURES
from lfds.results.record import ResultsError

if TYPE_CHECKING:
    from lfds.report.load import Report
    from lfds.results.record import Rule

FORMATS = ("html", "md", "tex", "csv")
PAGE = "report.html"


def report(
    run: Annotated[
        list[Path],
        typer.Argument(metavar="RUN", help="Folders of lfds compare --out, or files of records."),
    ],
    form: Annotated[
        str, typer.Option("--format", help="html (a page), md, tex or csv (tables).")
    ] = "html",
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="Output file; by default a page in RUN, tables on standard output."
        ),
    ] = None,
    rule: Annotated[
        str | None, typer.Option(help="Rule of the tables, and the first one of the page.")
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(help=f"Folder for all figures ({', '.join(FIGURES)}) as PNG and SVG."),
    ] = None,
) -> None:
    """Report on runs: accuracy, folds, learning curves, comparisons, costs, failures."""
    _check("--format", form, FORMATS)
    page = _page_path(run, out) if form == "html" else None
    _protect_inputs(run, page or out)
    # numpy, scipy and matplotlib take a while to import: check the options first.
    from lfds.data.atomic_io import check_folder, is_special
    from lfds.report.load import make_report

    if figures is not None:
        check_folder(figures)
    made = make_report(run)
    if rule is not None:
        _check("--rule", rule, made.rules)
    chosen: Rule = next(r for r in made.rules if rule in (None, r))
    content = _content(made, form, chosen, all_rules=rule is None)
    if figures is not None:
        _write_figures(made, figures)
    target = page or out
    if target is None:
        typer.echo(content, nl=False)
    else:
        _write(target, content.encode())
        # The report itself may go to standard output.
        typer.echo(f"{target}", err=is_special(target))


def _check(option: str, name: str, names: Iterable[str]) -> None:
    names = tuple(names)
    if name not in names:
        raise ResultsError(f"invalid {option} {name!r}; {choose_from(name, names)}")


def _page_path(run: list[Path], out: Path | None) -> Path:
    if out is not None:
        return out
    if len(run) > 1:
        raise ResultsError("a page about several runs needs an output file; name it with -o FILE")
    if run[0].is_dir():
        return run[0] / PAGE
    return run[0].with_name(f"{run[0].name.split('.')[0]}.html")


def _protect_inputs(run: list[Path], out: Path | None) -> None:
    """Refuse to overwrite an input: records can only be restored by running all folds again."""
    from lfds.report.run_spec import SPEC
    from lfds.results.store import PACKED, RECORDS

    for given in run:
        inside = (given / RECORDS, given / PACKED, given / SPEC)
        for path in inside if given.is_dir() else (given, given.with_name(SPEC)):
            if out is not None and path.exists() and out.exists() and path.samefile(out):
                raise ResultsError(
                    "is an input of this report and would be overwritten; "
                    "name another file with -o",
                    source=out,
                )


def _content(made: "Report", form: str, rule: "Rule", *, all_rules: bool) -> str:
    from lfds.report.html import page
    from lfds.report.table import comma_separated, latex, markdown

    if form == "html":
        return page(made, rule)
    if form == "csv":
        return comma_separated(b for b in made.leaderboards if all_rules or b.rule == rule)
    return (markdown if form == "md" else latex)(made.by(rule))


def _write_figures(made: "Report", folder: Path) -> None:
    from lfds.report.figures import all_drawings
    from lfds.report.figures.style import FILE_TYPES, as_file, styled

    count = 0
    with styled():
        for drawing in all_drawings(made.leaderboards):
            for kind in FILE_TYPES:
                _write(folder / f"{drawing.name}.{kind}", as_file(drawing, kind))
            count += 1
    typer.echo(f"{count} figures, as PNG and SVG, are in {folder}", err=True)


def _write(path: Path, content: bytes) -> None:
    from lfds.data.atomic_io import atomic_write

    atomic_write(path, content)
