"""The leaderboard as Markdown, LaTeX and CSV."""

import csv
from collections.abc import Callable, Iterable, Mapping
from io import StringIO

from lfds.config.spreadsheet import spreadsheet_text
from lfds.report.formatting import cell_text
from lfds.report.paper import published
from lfds.report.ranking import ALPHA, Entry, Leaderboard

LEGEND = (
    "best of its column {best}, not significantly worse {even} "
    f"(paired over folds, variance after Nadeau and Bengio, Holm-corrected in its column, {ALPHA})"
)
OTHER_FOLDS = "on {} not all rows were run on the same folds: marks are among those that were"
_COLUMNS = (
    "rule", "pool", "dataset", "mean", "std", "low", "high", "mark", "p", "folds", "seeds",
    "done", "failed", "wanted", "seconds", "parameters", "peak_memory", "paper_mean", "paper_std",
)  # fmt: skip


def markdown(board: Leaderboard) -> str:
    """Return the table as Markdown; the best in bold, not significantly worse in italics."""
    head = ["", *(_md(column) for column in board.columns)]
    lines = [
        f"Accuracy in %, mean ± std over folds; rule {board.rule}: {board.rule_text}.",
        "",
        f"| {' | '.join(head)} |",
        "|---|" + "--:|" * len(board.columns),
    ]
    for row in board.rows:
        cells = [_marked(board, row, column, _md, _MD_MARKS) for column in board.columns]
        lines.append(f"| {' | '.join([_md(row), *cells])} |")
    legend = LEGEND.format(best="**bold**", even="*italic*") + _on_other_folds(board, _md)
    return "\n".join([*lines, "", legend[0].upper() + legend[1:] + "."]) + "\n"


def latex(board: Leaderboard) -> str:
    """Return the table as LaTeX for the package booktabs."""
    lines = [
        f"% rule {board.rule}: {board.rule_text}",
        "\\begin{tabular}{l" + "r" * len(board.columns) + "}",
        "\\toprule",
        " & ".join(["", *(_tex(column) for column in board.columns)]) + " \\\\",
        "\\midrule",
    ]
    for row in board.rows:
        cells = [_marked(board, row, column, _tex, _TEX_MARKS) for column in board.columns]
        lines.append(" & ".join([_tex(row), *cells]) + " \\\\")
    legend = LEGEND.format(best="in bold", even="underlined") + _on_other_folds(board, _tex)
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", f"% {legend}"]) + "\n"


def comma_separated(leaderboards: Iterable[Leaderboard]) -> str:
    """Return one line per rule, row and column, accuracies as fractions of 1."""
    buffer = StringIO()
    writer = csv.DictWriter(buffer, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for board in leaderboards:
        for entry in board.entries.values():
            writer.writerow(_csv_row(board, entry))
    return buffer.getvalue()


def _csv_row(board: Leaderboard, entry: Entry) -> dict[str, object]:
    series, summary = entry.series, entry.summary
    row: dict[str, object] = {
        "rule": board.rule,
        "pool": spreadsheet_text(series.row), "dataset": spreadsheet_text(series.column),
        "mark": entry.mark, "p": entry.p, "folds": series.folds, "seeds": len(series.seeds),
        "done": len(series.done), "failed": len(series.failed), "wanted": series.wanted,
    }  # fmt: skip
    if summary is not None:
        row |= {n: getattr(summary, n) for n in ("mean", "std", "low", "high")}
    if series.done:
        cost = series.cost
        row |= {"seconds": cost.seconds, "parameters": cost.parameters, "peak_memory": cost.memory}
    paper = published(series.pool, series.dataset)
    if paper is not None:
        row |= {"paper_mean": paper.mean / 100, "paper_std": paper.std / 100}
    return row


def _on_other_folds(board: Leaderboard, escaped: Callable[[str], str]) -> str:
    """Return the note about columns whose rows were run on different folds."""
    mixed = ", ".join(escaped(column) for column in board.mixed)
    return f"; {OTHER_FOLDS.format(mixed)}" if mixed else ""


_MD_MARKS = {"best": "**{}**", "even": "*{}*"}
_TEX_MARKS = {"best": "\\textbf{{{}}}", "even": "\\underline{{{}}}"}


def _marked(
    board: Leaderboard,
    row: str,
    column: str,
    escaped: Callable[[str], str],
    marks: Mapping[str, str],
) -> str:
    entry = board.entries.get((row, column))
    if entry is None:
        return "-"
    return marks.get(entry.mark, "{}").format(escaped(cell_text(entry)))


def _md(text: str) -> str:
    """Escape what has a meaning in Markdown or HTML."""
    for sign in "\\`*_{}[]<>|#":
        text = text.replace(sign, f"\\{sign}")
    return text


def _tex(text: str) -> str:
    special = {
        "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
        "±": "$\\pm$", "<": "$<$", ">": "$>$", "|": "$|$",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }  # fmt: skip
    return "".join(special.get(sign, sign) for sign in text)
