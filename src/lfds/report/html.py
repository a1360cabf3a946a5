"""The page: one self-contained HTML file, without network access and without scripts."""

from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from lfds.report.figures import FIGURES, FigureEntry
from lfds.report.figures.style import Drawing, as_html, styled
from lfds.report.formatting import cell_text, folds_text, p_text, places_of, points, spans
from lfds.report.load import Report
from lfds.report.paper import in_paper, published, remarks
from lfds.report.ranking import ALPHA, Leaderboard, Pair
from lfds.report.run_spec import COMMAND, reproduce
from lfds.report.series import Series, differing
from lfds.results.record import Rule

_TEMPLATES = files("lfds.report").joinpath("template")


def page(report: Report, rule: Rule, figures: Mapping[str, FigureEntry] = FIGURES) -> str:
    """Return the page as HTML.

    Args:
        report: The report.
        rule: The rule that is selected at first.
        figures: The figures to show, in order.
    """
    with styled():
        return _template().render(
            report=report,
            first=rule,
            figures=figures,
            css=Markup(_TEMPLATES.joinpath("page.css").read_text(encoding="utf-8")),
            reproductions=[reproduce(source) for source in report.sources],
            headline=headline(report),
            state=state_of(report),
            settings=settings_table(report),
            versions=versions_table(report),
            remarks=remarks({s.pool for s in report.series}, {s.dataset for s in report.series}),
            rules={rule: report.by(rule).rule_text for rule in report.rules},
            alpha=ALPHA,
            command=COMMAND,
            version=version("lfds"),
        )


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals.update(
        cell_text=cell_text,
        folds_text=folds_text,
        in_paper=in_paper,
        matrix=matrix,
        p_text=p_text,
        places_of=places_of,
        points=points,
        published=published,
        svg=_svg,
    )
    return environment.from_string(_TEMPLATES.joinpath("page.html.j2").read_text(encoding="utf-8"))


def _svg(drawing: Drawing) -> Markup:
    # matplotlib escapes the texts of the figure, and `as_html` title and description.
    return Markup(as_html(drawing))


def matrix(board: Leaderboard, column: str) -> dict[tuple[str, str], tuple[Pair, int]]:
    """Return every pairwise comparison of a column in both directions, with its sign."""
    found: dict[tuple[str, str], tuple[Pair, int]] = {}
    for pair in board.pairs[column]:
        found[pair.first, pair.second] = (pair, 1)
        found[pair.second, pair.first] = (pair, -1)
    return found


def headline(report: Report) -> str:
    """Return the title: the numbers of poolings and datasets."""
    rows = {row for board in report.leaderboards for row in board.rows}
    columns = [column for board in report.leaderboards for column in board.columns]
    poolings = "1 pooling" if len(rows) == 1 else f"{len(rows)} poolings"
    where = columns[0] if len(set(columns)) == 1 else f"{len(set(columns))} datasets"
    return f"{poolings} on {where}"


def state_of(report: Report) -> str:
    """Return the numbers of completed, failed and missing folds as a sentence."""
    wanted = sum(series.wanted for series in report.series)
    done = sum(len(series.done) for series in report.series)
    failed = sum(len(series.failed) for series in report.series)
    parts = [f"{done} of {wanted} folds completed"]
    if failed:
        parts.append(f"{failed} failed")
    if done + failed < wanted:
        parts.append(f"{wanted - done - failed} not run")
    return ", ".join(parts) + "."


def settings_table(report: Report) -> tuple[dict[str, str], list[str], list[tuple[str, list[str]]]]:
    """Return common settings, the names of differing ones, and their values by row and column."""
    started = [series for series in report.series if series.settings]
    variants = [
        {"protocol": s.protocol, "seeds": spans(s.seeds)} | dict(s.settings) for s in started
    ]
    names = differing(variants)
    common = {n: v for settings in variants[:1] for n, v in settings.items() if n not in names}
    groups: dict[tuple[str, ...], list[Series]] = {}
    for series, settings in zip(started, variants, strict=True):
        groups.setdefault(tuple(settings.get(n, "-") for n in names), []).append(series)
    rows = {series.row for series in started}
    return common, names, [(_where(group, rows), list(v)) for v, group in groups.items()]


def _where(group: list[Series], rows: set[str]) -> str:
    """Return the rows and columns of a group of series as text."""
    mine = list(dict.fromkeys(series.row for series in group))
    columns = list(dict.fromkeys(series.column for series in group))
    if len(mine) * len(columns) > len({(series.row, series.column) for series in group}):
        return ", ".join(f"{series.row} on {series.column}" for series in group)
    who = "all poolings" if set(mine) == rows and len(rows) > 1 else ", ".join(mine)
    return f"{who} on {', '.join(columns)}"


def versions_table(report: Report) -> list[tuple[str, str, int]]:
    """Return package, version and number of folds that were run with it."""
    counts = Counter(pair for record in report.records for pair in record.versions.items())
    return [(name, version, count) for (name, version), count in counts.items()]
