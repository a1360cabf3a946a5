r"""Every row against max under the fair rule: per dataset, and over datasets.

Over :math:`n` datasets with gains :math:`d_i` the p value is the share of the :math:`2^n` ways to
turn their signs whose mean is at least as far from 0 as the one found:

.. math::
    p = \frac{1}{2^n} \left| \left\{ s \in \{-1, 1\}^n :
        \left| \sum_i s_i d_i \right| \ge \left| \sum_i d_i \right| \right\} \right|
"""

from collections.abc import Mapping, Sequence
from itertools import product

from benchmarks.table1.rows import as_table, cell_or_not_run, columns_of, row_names, settings_said
from lfds.report.formatting import p_text, points
from lfds.report.ranking import ALPHA, Entry, Leaderboard, comparable
from lfds.report.report import Report
from lfds.report.series import Series
from lfds.report.slots import OF_SLOTS
from lfds.results.errors import ResultsError
from lfds.results.statistics import Comparison, compare, holm

REFERENCE = "max"


def fair(made: Report, note: str, *, all_rows: bool = True) -> str:
    """Return the part about runs of the fair protocol: accuracies, gains over max, and a note.

    Args:
        made: All records.
        note: What is said by hand.
        all_rows: Whether rows of the paper that were run on no dataset are shown.
    """
    columns = columns_of(made, "fair")
    begun = {column: some for column, some in columns.items() if some}
    if not begun:
        return "\n\n".join(filter(None, ["Not run.", note]))
    standing = made.by("fair")
    met = [series for some in begun.values() for series in some]
    rows = row_names(met) if all_rows else list(dict.fromkeys(series.row for series in met))
    said = [f"- {column}: {settings_said(some)}" for column, some in begun.items()]
    others = [column for column in columns if column not in begun]
    accuracy = [
        [f"`{row}`", *(cell_or_not_run(standing.entries.get((row, c))) for c in begun)]
        for row in rows
    ]
    gains = {column: gains_on(standing, column) for column in begun}
    parts = [
        "\n".join([*said, *([f"- Not run: {', '.join(others)}."] if others else [])]),
        "Accuracy in %, mean ± standard deviation over folds.",
        as_table(("pooling", *begun), accuracy),
        f"Gain over `{REFERENCE}` in points and its p value (paired over folds, variance after "
        f"Nadeau and Bengio, Holm-corrected for the rows of a dataset; **bold** below {ALPHA}).\n"
        "Over datasets: the mean gain on those where both are complete, and the share of all ways "
        "to turn the signs of its gains that end as far from 0, for the row alone (p) and for one "
        "among the rows (after Holm); of n datasets it is at least 1/2 to the power of n - 1.\n"
        f"{_ranks(standing)}",
        as_table(("pooling", *begun, "mean gain", "p", "p after Holm"), gain_lines(rows, gains)),
        note,
    ]
    return "\n\n".join(filter(None, parts))


def check_kept(made: Report, keep: str) -> None:
    """Raise a ResultsError where runs of the fair protocol kept another epoch than they should."""
    for series in made.series:
        kept = series.settings.get("keep", keep)
        if series.protocol == "fair" and kept != keep:
            raise ResultsError(
                f"{series.row} on {series.column} kept the {kept} epoch: runs that kept the last "
                f"one belong behind --last, and no others"
            )


def gains_on(standing: Leaderboard, column: str) -> dict[str, tuple[Comparison, float]]:
    """Return how far each row of a column is ahead of max, with p values after Holm."""
    found: dict[str, Comparison] = {}
    whole = [entry for entry in standing.column(column) if entry.scores is not None]
    for entry in whole:
        rival = _reference(entry, whole)
        if rival is not None and entry.scores is not None and rival.scores is not None:
            found[entry.series.row] = compare(entry.scores, rival.scores, "fair")
    ps = holm([outcome.p for outcome in found.values()])
    return {row: (o, p) for (row, o), p in zip(found.items(), ps, strict=True)}


def _reference(entry: Entry, whole: Sequence[Entry]) -> Entry | None:
    """Return max on the same folds, of the same settings where several were run."""
    rivals = [e for e in whole if e.series.pool == REFERENCE and comparable(e, entry)]
    alike = [rival for rival in rivals if _shared(rival.series) == _shared(entry.series)]
    return None if entry in rivals else next(iter([*alike, *rivals]), None)


def _shared(series: Series) -> Mapping[str, str]:
    """The settings that a pooling without slots has, too."""
    return {name: value for name, value in series.settings.items() if name not in OF_SLOTS}


def gain_lines(
    rows: Sequence[str], gains: Mapping[str, Mapping[str, tuple[Comparison, float]]]
) -> list[list[str]]:
    """Return a line for each row that was compared anywhere, the mean over datasets last."""
    mine = {row: [g[row][0].difference for g in gains.values() if row in g] for row in rows}
    several = [row for row in rows if len(mine[row]) > 1]
    alone = [sign_flips(mine[row]) for row in several]
    ps = dict(zip(several, zip(alone, holm(alone), strict=True), strict=True))
    lines = []
    for row in (row for row in rows if mine[row]):
        cells = [_gain(here.get(row)) for here in gains.values()]
        mean = f"{points(sum(mine[row]) / len(mine[row]))} on {len(mine[row])}"
        over = ["-", "-"]
        if row in ps:
            p, corrected = ps[row]
            over = [p_text(p), _emphasised(p_text(corrected), corrected)]
        lines.append([f"`{row}`", *cells, mean, *over])
    return lines


def sign_flips(gains: Sequence[float]) -> float:
    """Return how often gains of random signs have a mean as far from 0.

    >>> sign_flips([0.1, 0.2, 0.3]), sign_flips([0.0, 0.0])
    (0.25, 1.0)
    """
    found = abs(sum(gains)) - 1e-12
    signs = list(product((-1, 1), repeat=len(gains)))
    ways = (sum(s * g for s, g in zip(some, gains, strict=True)) for some in signs)
    return sum(abs(way) >= found for way in ways) / len(signs)


def _gain(compared: tuple[Comparison, float] | None) -> str:
    if compared is None:
        return "-"
    outcome, p = compared
    return _emphasised(f"{points(outcome.difference)} (p {p_text(p)})", p)


def _emphasised(text: str, p: float) -> str:
    return f"**{text}**" if p < ALPHA else text


def _ranks(standing: Leaderboard) -> str:
    ranking = standing.ranking
    if ranking is None:
        return "No ranks: they need all rows complete on the same folds of two datasets or more."
    told = ", ".join(f"`{pool}` {place:.2f}" for pool, place in ranking.ranks.items())
    return (
        f"Mean ranks over {', '.join(standing.ranked)}: {told} (critical difference "
        f"{ranking.critical_difference:.2f}, Friedman's test p {p_text(ranking.friedman_p)})."
    )
