"""The leaderboard by one rule: accuracies, the best per dataset, and significant differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isclose
from typing import Literal

from lfds.report.series import Series
from lfds.results.ranks import Ranking, rank
from lfds.results.record import PROTOCOLS, IncompleteRunError, Rule, rule_in_words
from lfds.results.rules import Scores, scores_by
from lfds.results.statistics import Comparison, Summary, compare, holm, summarise

ALPHA = 0.05
Mark = Literal["best", "even", "behind", ""]


@dataclass(frozen=True)
class Entry:
    """One row on one column.

    Attributes:
        series: Its folds.
        scores: Accuracy of each fold, ``[seeds, folds]``; None if one is missing or failed.
        summary: Mean, standard deviation and confidence interval; None as well.
        mark: ``best`` (several if means are equal), ``even`` (not significantly worse), ``behind``
            (significantly worse), or empty without a comparison.
        p: p value of the comparison with the best, Holm-corrected over the column.
    """

    series: Series
    scores: Scores | None = None
    summary: Summary | None = None
    mark: Mark = ""
    p: float | None = None


@dataclass(frozen=True)
class Pair:
    """The paired comparison of two rows on one column.

    Attributes:
        first: A row.
        second: Another row.
        comparison: First minus second.
        p: p value, Holm-corrected over all pairs of the column.
    """

    first: str
    second: str
    comparison: Comparison
    p: float


@dataclass(frozen=True)
class Leaderboard:
    """The results of all rows by one rule.

    Attributes:
        rule: How epochs were chosen.
        rows: Poolings, with settings if several rows are of one pooling.
        columns: Datasets.
        entries: By row and column, where there is a record or a request.
        pairs: Pairwise comparisons by column.
        ranking: Mean ranks over ``ranked``; None if there are too few rows or columns.
        ranked: The columns on which every row is complete on the same folds.
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
        splits = {c: {e.series.split for e in self.column(c) if e.summary} for c in self.columns}
        return tuple(column for column, several in splits.items() if len(several) > 1)

    @property
    def rule_text(self) -> str:
        """A description of the rule for these runs."""
        kept = {entry.series.settings.get("keep") for entry in self.entries.values()}
        return rule_in_words(self.rule, kept)

    def column(self, column: str) -> list[Entry]:
        """Return the entries of a column, in the order of the rows."""
        return [self.entries[row, column] for row in self.rows if (row, column) in self.entries]


def rules_of(all_series: Sequence[Series]) -> tuple[Rule, ...]:
    """Return the rules that apply to some series; ``fair`` comes first."""
    used = {series.protocol for series in all_series}
    return tuple(r for protocol, rules in PROTOCOLS.items() if protocol in used for r in rules)


def make_leaderboard(rule: Rule, all_series: Sequence[Series]) -> Leaderboard:
    """Evaluate series by one rule; an incomplete series has no mean and no mark."""
    mine = [series for series in all_series if rule in PROTOCOLS[series.protocol]]
    rows = tuple(dict.fromkeys(series.row for series in mine))
    columns = tuple(dict.fromkeys(series.column for series in mine))
    unmarked = {(series.row, series.column): _entry(rule, series) for series in mine}
    entries: dict[tuple[str, str], Entry] = {}
    pairs = {}
    for column in columns:
        here = {row: unmarked[row, column] for row in rows if (row, column) in unmarked}
        pairs[column] = _pairs(rule, here)
        entries |= {(row, column): entry for row, entry in _marked(rule, here).items()}
    ranking, ranked = _ranking(rule, rows, columns, entries)
    return Leaderboard(rule, rows, columns, entries, pairs, ranking, ranked)


def comparable(first: Entry, second: Entry) -> bool:
    """Whether two entries are of the same folds of the same graphs and seeds."""
    return first.series.split == second.series.split


def _entry(rule: Rule, series: Series) -> Entry:
    seeds = sorted(series.seeds)
    try:
        scores = scores_by(rule, series.records, folds=series.folds, seeds=seeds)
        return Entry(series, scores, summarise(scores, rule))
    except IncompleteRunError:
        return Entry(series)


def _marked(rule: Rule, here: Mapping[str, Entry]) -> dict[str, Entry]:
    """Mark rows that share their folds: the best, those not significantly worse, the others."""
    groups: dict[tuple[object, ...], dict[str, float]] = {}
    for row, entry in here.items():
        if entry.summary is not None:
            groups.setdefault(entry.series.split, {})[row] = entry.summary.mean
    rivals = {row: means for means in groups.values() if len(means) > 1 for row in means}
    best = {row: max(means, key=means.__getitem__) for row, means in rivals.items()}
    # Means of equal accuracies in another order may differ in the last digit.
    tops = [row for row in best if isclose(rivals[row][row], rivals[row][best[row]], abs_tol=1e-12)]
    others = [row for row in best if row not in tops]
    # The correction is for all comparisons of the column, of whatever folds.
    ps = holm([_compared(rule, here[best[row]], here[row]).p for row in others])
    marked = {**here, **{row: replace(here[row], mark="best") for row in tops}}
    for row, p in zip(others, ps, strict=True):
        marked[row] = replace(here[row], mark="even" if p >= ALPHA else "behind", p=p)
    return marked


def _pairs(rule: Rule, here: Mapping[str, Entry]) -> tuple[Pair, ...]:
    complete = [row for row, entry in here.items() if entry.summary is not None]
    pairs = [pair for pair in combinations(complete, 2) if comparable(here[pair[0]], here[pair[1]])]
    found = [_compared(rule, here[first], here[second]) for first, second in pairs]
    ps = holm([comparison.p for comparison in found])
    return tuple(Pair(*pair, one, p) for pair, one, p in zip(pairs, found, ps, strict=True))


def _compared(rule: Rule, first: Entry, second: Entry) -> Comparison:
    assert first.scores is not None
    assert second.scores is not None
    return compare(first.scores, second.scores, rule)


def _ranking(
    rule: Rule,
    rows: Sequence[str],
    columns: Sequence[str],
    entries: Mapping[tuple[str, str], Entry],
) -> tuple[Ranking | None, tuple[str, ...]]:
    """Rank the rows over the columns on which all of them are complete on the same folds."""
    means: dict[str, dict[str, float]] = {row: {} for row in rows}
    ranked = []
    for column in columns:
        here = [entries.get((row, column)) for row in rows]
        summaries = [entry.summary for entry in here if entry and entry.summary]
        splits = {entry.series.split for entry in here if entry}
        if len(summaries) == len(rows) and len(splits) == 1:
            ranked.append(column)
            for row, summary in zip(rows, summaries, strict=True):
                means[row][column] = summary.mean
    try:
        return rank(means, rule), tuple(ranked)
    except IncompleteRunError:
        return None, tuple(ranked)
