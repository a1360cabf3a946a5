"""Who stands where by one rule: accuracies, the best of each dataset, and who is not behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isclose
from typing import Literal

from lfds.report.series import Series
from lfds.results.errors import IncompleteRunError
from lfds.results.ranks import Ranking, rank
from lfds.results.record import PROTOCOLS, Rule, rule_in_words
from lfds.results.rules import Scores, scores_by
from lfds.results.statistics import Comparison, Summary, compare, holm, summarise

ALPHA = 0.05
Mark = Literal["best", "even", "behind", ""]


@dataclass(frozen=True)
class Entry:
    """One row on one column.

    Attributes:
        series: Its folds.
        scores: The accuracy of each, ``[seeds, folds]``; None where one is missing or failed.
        summary: Their mean and spread; None as well.
        mark: ``best`` (several where means are equal), ``even`` (not significantly worse),
            ``behind``, or nothing to be said.
        p: Of the comparison with the best, Holm-corrected over the column.
    """

    series: Series
    scores: Scores | None = None
    summary: Summary | None = None
    mark: Mark = ""
    p: float | None = None


@dataclass(frozen=True)
class Pair:
    """Two rows on one column, compared fold by fold.

    Attributes:
        first: A row.
        second: Another.
        outcome: How far the first is ahead.
        p: Holm-corrected over all pairs of the column.
    """

    first: str
    second: str
    outcome: Comparison
    p: float


@dataclass(frozen=True)
class Leaderboard:
    """Everything that can be said of a run by one rule.

    Attributes:
        rule: How epochs were chosen.
        rows: Poolings, with settings where these tell rows apart.
        columns: Datasets.
        entries: By row and column; what was never asked for is not there.
        pairs: By column.
        ranking: Over the columns on which every row is complete, all on the same folds, if there
            are enough of them.
        ranked: Those columns.
    """

    rule: Rule
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    entries: Mapping[tuple[str, str], Entry]
    pairs: Mapping[str, tuple[Pair, ...]]
    ranking: Ranking | None
    ranked: tuple[str, ...]

    @property
    def mixed(self) -> tuple[str, ...]:
        """The columns whose rows were not all run on the same folds."""
        dealt = {c: {e.series.dealt for e in self.column(c) if e.summary} for c in self.columns}
        return tuple(column for column, several in dealt.items() if len(several) > 1)

    @property
    def words(self) -> str:
        """What the rule does to these runs."""
        kept = {entry.series.settings.get("keep") for entry in self.entries.values()}
        return rule_in_words(self.rule, kept)

    def column(self, column: str) -> list[Entry]:
        """Return the entries of a column, in the order of the rows."""
        return [self.entries[row, column] for row in self.rows if (row, column) in self.entries]


def rules_of(all_series: Sequence[Series]) -> tuple[Rule, ...]:
    """Return the rules there is something to say by; the fair one leads."""
    there = {series.protocol for series in all_series}
    return tuple(r for protocol, rules in PROTOCOLS.items() if protocol in there for r in rules)


def standing_by(rule: Rule, all_series: Sequence[Series]) -> Leaderboard:
    """Count by one rule; whose folds are not all there gets no mean and no mark."""
    mine = [series for series in all_series if rule in PROTOCOLS[series.protocol]]
    rows = tuple(dict.fromkeys(series.row for series in mine))
    columns = tuple(dict.fromkeys(series.column for series in mine))
    counted = {(series.row, series.column): _counted(rule, series) for series in mine}
    entries: dict[tuple[str, str], Entry] = {}
    pairs = {}
    for column in columns:
        here = {row: counted[row, column] for row in rows if (row, column) in counted}
        pairs[column] = _pairs(rule, here)
        entries |= {(row, column): entry for row, entry in _marked(rule, here).items()}
    ranking, ranked = _ranking(rule, rows, columns, entries)
    return Leaderboard(rule, rows, columns, entries, pairs, ranking, ranked)


def comparable(first: Entry, second: Entry) -> bool:
    """Whether two rows were run on the same folds, of the same graphs, of the same seeds."""
    return first.series.dealt == second.series.dealt


def _counted(rule: Rule, series: Series) -> Entry:
    seeds = sorted(series.seeds)
    try:
        scores = scores_by(rule, series.records, folds=series.folds, seeds=seeds)
        return Entry(series, scores, summarise(scores, rule))
    except IncompleteRunError:
        return Entry(series)


def _marked(rule: Rule, here: Mapping[str, Entry]) -> dict[str, Entry]:
    """Mark the best of each set of folds, and what is as good; a row alone on its folds is not."""
    groups: dict[tuple[object, ...], dict[str, float]] = {}
    for row, entry in here.items():
        if entry.summary is not None:
            groups.setdefault(entry.series.dealt, {})[row] = entry.summary.mean
    rivals = {row: means for means in groups.values() if len(means) > 1 for row in means}
    best = {row: max(means, key=means.__getitem__) for row, means in rivals.items()}
    # A mean of equal accuracies in another order may end in another last digit.
    tops = [row for row in best if isclose(rivals[row][row], rivals[row][best[row]], abs_tol=1e-12)]
    others = [row for row in best if row not in tops]
    # All comparisons of a column are corrected for, whatever folds they are over.
    ps = holm([_compared(rule, here[best[row]], here[row]).p for row in others])
    marked = {**here, **{row: _with(here[row], "best", None) for row in tops}}
    for row, p in zip(others, ps, strict=True):
        marked[row] = _with(here[row], "even" if p >= ALPHA else "behind", p)
    return marked


def _pairs(rule: Rule, here: Mapping[str, Entry]) -> tuple[Pair, ...]:
    whole = [row for row, entry in here.items() if entry.summary is not None]
    twos = [two for two in combinations(whole, 2) if comparable(here[two[0]], here[two[1]])]
    outcomes = [_compared(rule, here[first], here[second]) for first, second in twos]
    ps = holm([outcome.p for outcome in outcomes])
    return tuple(Pair(*two, o, p) for two, o, p in zip(twos, outcomes, ps, strict=True))


def _compared(rule: Rule, first: Entry, second: Entry) -> Comparison:
    assert first.scores is not None
    assert second.scores is not None
    return compare(first.scores, second.scores, rule)


def _with(entry: Entry, mark: Mark, p: float | None) -> Entry:
    return Entry(entry.series, entry.scores, entry.summary, mark, p)


def _ranking(
    rule: Rule,
    rows: Sequence[str],
    columns: Sequence[str],
    entries: Mapping[tuple[str, str], Entry],
) -> tuple[Ranking | None, tuple[str, ...]]:
    """Rank the rows over the columns on which all of them are complete, on the same folds."""
    means: dict[str, dict[str, float]] = {row: {} for row in rows}
    ranked = []
    for column in columns:
        here = [entries.get((row, column)) for row in rows]
        summaries = [entry.summary for entry in here if entry and entry.summary]
        dealt = {entry.series.dealt for entry in here if entry}
        if len(summaries) == len(rows) and len(dealt) == 1:
            ranked.append(column)
            for row, summary in zip(rows, summaries, strict=True):
                means[row][column] = summary.mean
    try:
        return rank(means, rule), tuple(ranked)
    except IncompleteRunError:
        return None, tuple(ranked)
