"""The whole page of results, from records and notes."""

from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import NamedTuple

from benchmarks.table1.costs import costs
from benchmarks.table1.earlier import earlier
from benchmarks.table1.fair import fair
from benchmarks.table1.missing import missing
from benchmarks.table1.ours import ours
from benchmarks.table1.reproduced import count_of_verdicts, reproduced
from benchmarks.table1.rows import columns_of
from lfds.report.report import Report

_SEEDS = """### With several seeds

As above, everything repeated with other seeds, which also deal the folds that are not published."""
_LAST = """### Keeping the last epoch

As above, but no epoch is chosen (`--keep last`): what the training ends with is judged."""
_BEFORE = """### Before all layers were mixed

As above, but structures read the last layer alone (`--option pooled_layers=last`): at first nodes \
as they come, and of the slots their maxima (`--option node_norm=false --option readout=max`), \
later normed nodes, and slots by weights as well."""
PARTS = ("summary", "earlier", "ours", "fair", "seeds", "before", "last", "costs")


class Beside(NamedTuple):
    """Records that have tables of their own.

    Attributes:
        earlier: Of an earlier reading of the paper.
        ours: Of the library as it comes, under the paper's protocol.
        seeds: Of the fair protocol, with several seeds.
        before: Of the fair protocol, before all layers were mixed.
        last: Of the fair protocol, with the last epoch kept.
    """

    earlier: Report | None = None
    ours: Report | None = None
    seeds: Report | None = None
    before: Report | None = None
    last: Report | None = None


def parts_of(made: Report) -> tuple[str, ...]:
    """Return the names under which notes find their place: parts of the page, and datasets."""
    return (*PARTS, *columns_of(made, "paper"))


def page(made: Report, notes: Mapping[str, str], beside: Beside) -> str:
    """Return the page as Markdown.

    Args:
        made: The records of both protocols.
        notes: What is said by hand, by the name of its part.
        beside: Other records.
    """
    other = earlier(beside.earlier, notes) if beside.earlier is not None else ""
    own = ours(beside.ours, notes) if beside.ours is not None else ""
    template = Template(Path(__file__).with_name("page.md").read_text(encoding="utf-8"))
    return template.substitute(
        summary="\n\n".join(filter(None, [count_of_verdicts(made), notes.get("summary")])),
        reproduced="\n\n".join(filter(None, [reproduced(made, notes), other, own])),
        fair=fair(made, notes.get("fair", "")),
        seeds=_below(_SEEDS, beside.seeds, notes.get("seeds", "")),
        before=_below(_BEFORE, beside.before, notes.get("before", "")),
        last=_below(_LAST, beside.last, notes.get("last", "")),
        costs=costs(made, notes),
        missing=missing(made),
    )


def _below(head: str, made: Report | None, note: str) -> str:
    """A table of the fair protocol below the main one, and the empty line after it."""
    return "" if made is None else f"{head}\n\n{fair(made, note, all_rows=False)}\n\n"
