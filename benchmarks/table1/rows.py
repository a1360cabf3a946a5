"""What Table 1 has: ten rows, and datasets here that stand beside those of the paper."""

from collections.abc import Iterable, Sequence

from lfds.report.formatting import cell_text, spans
from lfds.report.paper import Published, published
from lfds.report.ranking import Entry
from lfds.report.report import Report
from lfds.report.series import Series
from lfds.results.record import Protocol

ROWS = (
    "max", "loop", "sequence", "learned-spatial", "learned-spectral", "image", "array",
    "sort", "diff", "topk",
)  # fmt: skip
DATASETS = {
    "ENZYMES": "ENZYMES",
    "PROTEINS": "PROTEINS",
    "DD": "DD",
    "SYNTHETIC": "SYNT",
    "SYNTHETICnew": "SYNT",
    "Synthie": "SYNT",
    "pc-graphs": "PC Graphs",
    "clouds": "PC Graphs",
}
"""The names of the paper, by ours."""

REMARKS = {
    "SYNT": "Beside the paper's SYNT: which of SYNTHETIC, SYNTHETICnew and Synthie that is, the "
    "paper does not say, and none of them is called the match here.",
    "PC Graphs": "Beside the paper's PC Graphs, which were made of other point clouds.",
}


def theirs(pool: str, dataset: str) -> Published | None:
    """Return what the paper has for one of the ten rows on a dataset of ours."""
    # Clouds from files stand beside the same column as the built-in ones.
    known = "pc-graphs" if dataset == "clouds" else dataset
    return published(pool, known) if pool in ROWS else None


def columns_of(made: Report, protocol: Protocol) -> dict[str, list[Series]]:
    """Return the series of each column, those of the paper's datasets first, in its order."""
    found: dict[str, list[Series]] = {}
    mine = [series for series in made.series if series.protocol == protocol]
    for dataset in dict.fromkeys([*DATASETS, *(series.dataset for series in mine)]):
        here = [series for series in mine if series.dataset == dataset]
        for series in here:
            found.setdefault(series.column, []).append(series)
        if not here:
            found[dataset] = []
    return found


def row_names(some: Iterable[Series]) -> list[str]:
    """Return all rows: the ten, by their settings where there are several of one, and others."""
    some = list(some)
    ten = [list(dict.fromkeys(s.row for s in some if s.pool == pool)) or [pool] for pool in ROWS]
    names = [name for rows in ten for name in rows]
    return list(dict.fromkeys([*names, *(series.row for series in some)]))


def settings_said(some: Sequence[Series]) -> str:
    """Return folds, seeds, epochs and batch size of a column as its records tell them."""
    begun = [series for series in some if series.settings]
    if not begun:
        return "Not run."
    told = {
        "folds": [f"{series.folds} folds" for series in begun],
        "seeds": [f"{_noun(len(s.seeds), 'seed')} ({spans(s.seeds)})" for s in begun],
        "epochs": [_noun(series.settings.get("epochs", "?"), "epoch") for series in begun],
        "batch": [f"batches of {series.settings.get('batch_size', '?')}" for series in begun],
    }
    parts = [_common([series.row for series in begun], values) for values in told.values()]
    graphs = next((series.graphs for series in begun if series.graphs), None)
    return ", ".join([*([f"{graphs} graphs"] if graphs else []), *parts]) + "."


def _common(rows: Sequence[str], values: Sequence[str]) -> str:
    """Return the value most rows have, and those of the others by name."""
    usual = max(values, key=values.count)
    others: dict[str, list[str]] = {}
    for row, value in zip(rows, values, strict=True):
        if value != usual:
            others.setdefault(value, []).append(row)
    said = "; ".join(f"{value} for {', '.join(who)}" for value, who in others.items())
    return f"{usual} ({said})" if said else usual


def _noun(count: int | str, noun: str) -> str:
    return f"{count} {noun}" if str(count) == "1" else f"{count} {noun}s"


def cell_or_not_run(entry: Entry | None) -> str:
    """Return what a cell shows; what was only asked for is not run."""
    text = "not run" if entry is None else cell_text(entry)
    return "not run" if text.startswith("0 of ") else text


def as_table(head: Sequence[str], lines: Iterable[Sequence[str]], *, words: int = 0) -> str:
    """Return a Markdown table: names on the left, then numbers, then columns of words."""
    rule = "|---|" + "--:|" * (len(head) - 1 - words) + "---|" * words
    body = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join(["| " + " | ".join(head) + " |", rule, *body])
