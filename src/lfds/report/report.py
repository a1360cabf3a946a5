"""A report: what was read, dealt out to rows and columns, and counted by every rule."""

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from lfds.report.layout import lay_out
from lfds.report.load import Source, read_sources
from lfds.report.ranking import Leaderboard, rules_of, standing_by
from lfds.report.series import Series
from lfds.results.record import Record, Rule


@dataclass(frozen=True)
class Report:
    """Everything that pages, tables and figures are made of.

    Attributes:
        sources: Where the records came from.
        series: Of every row and column of every protocol.
        standings: One for each rule.
    """

    sources: tuple[Source, ...]
    series: tuple[Series, ...]
    standings: tuple[Leaderboard, ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules there is something to say by; the first is the headline."""
        return tuple(standing.rule for standing in self.standings)

    @property
    def records(self) -> list[Record]:
        """Of all folds that have come to an end."""
        return [record for series in self.series for record in series.records]

    @property
    def complete(self) -> bool:
        """Whether every fold that was asked for ended well."""
        return all(series.complete for series in self.series)

    def by(self, rule: Rule) -> Leaderboard:
        """Return the standing by one rule."""
        return next(standing for standing in self.standings if standing.rule == rule)


def make_report(paths: Iterable[str | PathLike[str]]) -> Report:
    """Read folders of ``lfds compare``, or files of records, and count.

    Args:
        paths: Folders, or ``.jsonl`` and ``.jsonl.gz`` files; several are merged.
    """
    sources = read_sources([Path(path) for path in paths])
    series = lay_out(sources)
    standings = tuple(standing_by(rule, series) for rule in rules_of(series))
    return Report(sources, tuple(series), standings)
