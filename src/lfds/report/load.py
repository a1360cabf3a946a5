"""From stored runs to a report: records in rows and columns, ranked by every rule."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from lfds.report.ranking import Leaderboard, make_leaderboard, rules_of
from lfds.report.run_spec import RequestedRun, Source, read_sources
from lfds.report.series import SPLIT_SETTINGS, Series, differing, settings_of
from lfds.results.record import Record, Rule

_Key = tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """What pages, tables and figures are made from.

    Attributes:
        sources: The folders and files that were read.
        series: One per row and column of each protocol.
        leaderboards: One per rule.
    """

    sources: tuple[Source, ...]
    series: tuple[Series, ...]
    leaderboards: tuple[Leaderboard, ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that apply to the records; the first is the default."""
        return tuple(leaderboard.rule for leaderboard in self.leaderboards)

    @property
    def records(self) -> list[Record]:
        """The records of all finished folds."""
        return [record for series in self.series for record in series.records]

    @property
    def complete(self) -> bool:
        """Whether every requested fold completed."""
        return all(series.complete for series in self.series)

    def by(self, rule: Rule) -> Leaderboard:
        """Return the leaderboard by one rule."""
        return next(board for board in self.leaderboards if board.rule == rule)


def make_report(paths: Iterable[str | PathLike[str]]) -> Report:
    """Read runs and evaluate them by every rule.

    Args:
        paths: Folders of ``lfds compare``, or ``.jsonl`` and ``.jsonl.gz`` files of records;
            several are merged.
    """
    sources = read_sources([Path(path) for path in paths])
    series = arrange(sources)
    leaderboards = tuple(make_leaderboard(rule, series) for rule in rules_of(series))
    return Report(sources, tuple(series), leaderboards)


def arrange(sources: Sequence[Source]) -> list[Series]:
    """Return all series with names of rows and columns, those without any record included.

    Records of one pooling on one dataset with different settings are different rows; those of
    different graphs under one name are different columns.
    """
    found: dict[_Key, Series] = {}
    finished: list[tuple[Series, Record, Source]] = []
    for source in sources:
        for record in source.records:
            _series_of(record, found).records.append(record)
        # A fold whose record is used from another source was run in this one, too.
        here = [(_series_of(record, found), record) for record in source.finished]
        _expect_same_seeds(here)
        finished += [(series, record, source) for series, record in here]
    for source in sources:
        if source.requested is not None:
            # Another run may have finished what this one was requested to do.
            started = [series for series, record, by in finished if source.requests(record, by)]
            _expect_requested(source.requested, started, found)
    cold = {key for source in sources for key in cold_folds(source.finished)}
    for series in found.values():
        series.cold = cold
    _name_columns(found.values())
    _name_rows(found.values())
    return list(found.values())


def cold_folds(records: Iterable[Record]) -> set[str]:
    """Return the keys of the folds that were the first of their process on a dataset.

    Records of earlier versions do not say so: there it is the first fold of each dataset.
    """
    cold: set[str] = set()
    seen: set[tuple[str, str]] = set()
    for record in records:
        if record.outcome is None:
            continue
        place = (record.fold.protocol, record.fold.dataset)
        told = record.outcome.cold_start
        if told if told is not None else place not in seen:
            cold.add(record.key)
        seen.add(place)
    return cold


def _series_of(record: Record, found: dict[_Key, Series]) -> Series:
    fold, settings = record.fold, settings_of(record)
    content = str(record.settings.get("content", ""))
    key = (fold.protocol, fold.pool, fold.dataset, content, repr(sorted(settings.items())))
    if key not in found:
        found[key] = Series(fold.protocol, fold.pool, fold.dataset, content, fold.folds, settings)
    return found[key]


def _expect_same_seeds(here: Sequence[tuple[Series, Record]]) -> None:
    """Expect every seed that one pooling of a source has on a dataset of all its poolings."""
    seeds: dict[tuple[object, ...], set[int]] = {}
    for series, record in here:
        seeds.setdefault((*_graphs(series), series.folds), set()).add(record.fold.seed)
    for series, _ in here:
        series.seeds |= seeds[*_graphs(series), series.folds]


def _graphs(series: Series) -> _Key:
    return (series.protocol, series.dataset, series.content)


def _expect_requested(
    requested: RequestedRun, started: Sequence[Series], found: dict[_Key, Series]
) -> None:
    protocol = requested.protocol
    for dataset in _recorded_names(requested.datasets, [series.dataset for series in started]):
        for pool in requested.pools:
            here = [s for s in started if (s.pool, s.dataset) == (pool, dataset)]
            for series in here:
                series.seeds |= requested.all_seeds
            if not here:
                found[protocol, pool, dataset, "", "requested"] = Series(
                    protocol, pool, dataset, "", requested.folds, {}, set(requested.all_seeds)
                )


def _recorded_names(requested: Sequence[str], recorded: Sequence[str]) -> list[str]:
    """Return the names of requested datasets in records; a file may contain another name.

    >>> _recorded_names(["ENZYMES", "mine", "DD"], ["ENZYMES", "molecules"])
    ['ENZYMES', 'molecules', 'DD']
    """
    # Datasets are run in the order of the spec, so unknown names are in that order, too.
    unknown = iter(dict.fromkeys(name for name in recorded if name not in requested))
    return [name if name in recorded else next(unknown, name) for name in requested]


def _name_rows(all_series: Iterable[Series]) -> None:
    """Name rows by pooling and, if several would have the same name, by differing settings."""
    all_series = list(all_series)
    splits = [name for name in _distinguishing(all_series) if name in SPLIT_SETTINGS]
    by_pool: dict[tuple[str, str], list[Series]] = {}
    for series in all_series:
        by_pool.setdefault((series.protocol, series.pool), []).append(series)
    for (_, pool), group in by_pool.items():
        names = list(dict.fromkeys([*splits, *_distinguishing(group)]))
        for series in group:
            # Splits from files have no validation fraction: their hash is enough.
            mine = [n for n in names if n != "validation" or n in series.settings]
            suffix = ", ".join(_setting_text(name, series.settings.get(name)) for name in mine)
            series.row = f"{pool} ({suffix})" if suffix and series.settings else pool
        started = {(series.row, series.column) for series in group if series.records}
        for series in group:
            # Requested with new settings, beside the records of an earlier run.
            if not series.records and (series.row, series.column) in started:
                series.row = f"{pool} (not started)"


def _setting_text(name: str, value: str | None) -> str:
    """Return a setting as part of the name of a row.

    >>> _setting_text("weight_decay", "0.1"), _setting_text("splits", "0123456789")
    ('weight decay 0.1', 'splits #012345')
    >>> _setting_text("splits", None)
    'random splits'
    """
    if name == "splits":
        return f"splits #{value[:6]}" if value else "random splits"
    return f"{name.replace('_', ' ')} {value or '-'}"


def _distinguishing(group: Sequence[Series]) -> list[str]:
    """Return the settings in which series differ on the same graphs by the same protocol."""
    names: dict[str, None] = {}
    for series in group:
        same = [other for other in group if _graphs(other) == _graphs(series)]
        names |= dict.fromkeys(differing(s.settings for s in same if s.settings))
    return list(names)


def _name_columns(all_series: Iterable[Series]) -> None:
    """Name columns by dataset and, if graphs differ under one name, by their number or hash."""
    counts: dict[str, dict[str, int | None]] = {}
    for series in all_series:
        if series.content:
            here = counts.setdefault(series.dataset, {})
            here[series.content] = here.get(series.content) or series.graphs
    for series in all_series:
        here = counts.get(series.dataset, {})
        count = here.get(series.content)
        series.column = series.dataset
        if len(here) > 1 and series.content:
            unique = count is not None and list(here.values()).count(count) == 1
            series.column += f" ({count} graphs)" if unique else f" #{series.content[:6]}"
