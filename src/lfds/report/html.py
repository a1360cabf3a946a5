"""The page: one self-contained HTML file, without network access.

It is complete without its script, which adds values under the pointer and sorts tables. The policy
of the page names the hash of the script: no other is run, wherever it may come from.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from lfds.report.classes import CONFUSION_RULES, class_table
from lfds.report.differences import NO_EFFECT, effective_settings, network_parts
from lfds.report.figures import FIGURES, FigureEntry
from lfds.report.figures.style import ROW_COLORS, Drawing, as_html, mark_of, styled
from lfds.report.formatting import (
    cell_text,
    folds_text,
    listed,
    p_text,
    places_of,
    points,
    spans,
)
from lfds.report.load import Report
from lfds.report.paper import in_paper, published, remarks
from lfds.report.ranking import ALPHA, Leaderboard, Pair
from lfds.report.run_spec import COMMAND, reproduce
from lfds.report.series import Series, differing
from lfds.report.verdict import reference_row, verdict
from lfds.results.record import Rule

_TEMPLATES = files("lfds.report").joinpath("template")


def page(
    report: Report,
    rule: Rule,
    figures: Mapping[str, FigureEntry] = FIGURES,
    *,
    today: date | None = None,
) -> str:
    """Return the page as HTML.

    Args:
        report: The report.
        rule: The rule that is selected at first.
        figures: The figures to show, in order.
        today: The date on the page.
    """
    script = _TEMPLATES.joinpath("page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    with styled():
        return _template().render(
            report=report,
            first=rule,
            figures=figures,
            css=Markup(_TEMPLATES.joinpath("page.css").read_text(encoding="utf-8")),
            script=Markup(script),
            script_hash=f"sha256-{digest}",
            date=f"{date.today() if today is None else today:%-d %B %Y}",
            done=any(series.done for series in report.series),
            empty=not any(series.records for series in report.series),
            verdicts={board.rule: verdict(board) for board in report.leaderboards},
            reference=reference_row(report.by(rule)),
            parts=network_parts(report.series),
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
        class_table=class_table,
        confusion_rules=CONFUSION_RULES,
        folds_text=folds_text,
        in_paper=in_paper,
        mark_of=mark_of,
        matrix=matrix,
        p_text=p_text,
        places_of=places_of,
        points=points,
        published=published,
        swatch=swatch,
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
    """Return the title: the names of poolings and datasets, only the first ones of many."""
    pools = list(dict.fromkeys(series.pool for series in report.series))
    columns = list(dict.fromkeys(series.column for series in report.series))
    return f"{listed(pools, 4, 'other poolings')} on {listed(columns, 4, 'other datasets')}"


def swatch(board: Leaderboard, row: str) -> int:
    """Return the number of the colour of a row in the style of the page; -1 for grey."""
    place = board.rows.index(row)
    return place if place < len(ROW_COLORS) else -1


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
        {"protocol": s.protocol, "seeds": spans(s.seeds)} | settings
        for s, settings in zip(started, effective_settings(started), strict=True)
    ]
    # What has an effect on one row only does not differ between rows.
    effective = [{n: v for n, v in one.items() if v != NO_EFFECT} for one in variants]
    names = [n for n in differing(variants) if len({one[n] for one in effective if n in one}) > 1]
    names += [n for n in differing(variants) if n not in names and not _shared(n, variants)]
    common = {n: v for one in effective[::-1] for n, v in one.items() if n not in names}
    groups: dict[tuple[str, ...], list[Series]] = {}
    for series, settings in zip(started, variants, strict=True):
        groups.setdefault(tuple(settings.get(n, "-") for n in names), []).append(series)
    rows = {series.row for series in started}
    return common, names, [(_where(group, rows), list(v)) for v, group in groups.items()]


def _shared(name: str, variants: list[dict[str, str]]) -> bool:
    """Whether all rows have a setting, with an effect or without."""
    return all(name in settings for settings in variants)


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
