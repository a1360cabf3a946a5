"""The page: one HTML file with everything in it, that asks the network for nothing."""

from functools import cache
from importlib.metadata import version
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from lfds.report.figures.draw import by_column
from lfds.report.figures.files import inline
from lfds.report.figures.ranks import draw_ranks
from lfds.report.figures.style import Drawing, styled
from lfds.report.formatting import cell_text, folds_text, p_text, places_of, points
from lfds.report.notes import headline, settings_table, state_of, versions_table
from lfds.report.paper import is_there, published, remarks
from lfds.report.ranking import ALPHA, Leaderboard, Pair
from lfds.report.report import Report
from lfds.report.reproduce import again
from lfds.results.record import Rule

_HOME = files("lfds.report").joinpath("template")


def page(made: Report, rule: Rule) -> str:
    """Return the page, showing one rule first; the others are a key away.

    Args:
        made: What is reported.
        rule: The rule shown first.
    """
    with styled():
        return _template().render(
            report=made,
            first=rule,
            css=Markup(_HOME.joinpath("page.css").read_text(encoding="utf-8")),
            by_column=by_column,
            draw_ranks=draw_ranks,
            figure=_inline,
            matrix=matrix,
            again=[again(source) for source in made.sources],
            headline=headline(made),
            state=state_of(made),
            settings=settings_table(made),
            versions=versions_table(made),
            remarks=remarks({s.pool for s in made.series}, {s.dataset for s in made.series}),
            rules={rule: made.by(rule).words for rule in made.rules},
            alpha=ALPHA,
            version=version("lfds"),
        )


def matrix(standing: Leaderboard, column: str) -> dict[tuple[str, str], tuple[Pair, int]]:
    """Return every comparison of a column from both sides; the sign is that of the row."""
    found: dict[tuple[str, str], tuple[Pair, int]] = {}
    for pair in standing.pairs[column]:
        found[pair.first, pair.second] = (pair, 1)
        found[pair.second, pair.first] = (pair, -1)
    return found


def _inline(drawing: Drawing) -> Markup:
    # matplotlib escapes what is drawn, and `inline` the title and the words.
    return Markup(inline(drawing, drawing.name))


@cache
def _template() -> Template:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals.update(
        cell_text=cell_text,
        folds_text=folds_text,
        is_there=is_there,
        p_text=p_text,
        places_of=places_of,
        points=points,
        published=published,
    )
    return environment.from_string(_HOME.joinpath("page.html.j2").read_text(encoding="utf-8"))
