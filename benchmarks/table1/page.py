"""The whole page of results, from records and notes."""

from collections.abc import Mapping
from pathlib import Path
from string import Template

from benchmarks.table1.costs import costs
from benchmarks.table1.earlier import earlier
from benchmarks.table1.fair import fair
from benchmarks.table1.missing import missing
from benchmarks.table1.reproduced import count_of_verdicts, reproduced
from benchmarks.table1.rows import columns_of
from lfds.report.report import Report

_LAST = """### Keeping the last epoch

As above, but no epoch is chosen (`--keep last`): what the training ends with is judged."""
PARTS = ("summary", "earlier", "fair", "last", "costs")


def parts_of(made: Report) -> tuple[str, ...]:
    """Return the names under which notes find their place: parts of the page, and datasets."""
    return (*PARTS, *columns_of(made, "paper"))


def page(
    made: Report,
    notes: Mapping[str, str],
    before: Report | None = None,
    ended: Report | None = None,
) -> str:
    """Return the page as Markdown.

    Args:
        made: All records.
        notes: What is said by hand, by the name of its part.
        before: Records of an earlier reading of the paper, shown in a table of their own.
        ended: Records of the fair protocol that kept the last epoch.
    """
    other = earlier(before, notes) if before is not None else ""
    last = fair(ended, notes.get("last", ""), all_rows=False) if ended is not None else ""
    template = Template(Path(__file__).with_name("page.md").read_text(encoding="utf-8"))
    return template.substitute(
        summary="\n\n".join(filter(None, [count_of_verdicts(made), notes.get("summary")])),
        reproduced="\n\n".join(filter(None, [reproduced(made, notes), other])),
        fair=fair(made, notes.get("fair", "")),
        last=f"{_LAST}\n\n{last}\n\n" if last else "",
        costs=costs(made, notes),
        missing=missing(made),
    )
