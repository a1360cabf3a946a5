"""Records dealt out to rows and columns, named so that no two runs are taken for one."""

from collections.abc import Iterable, Sequence

from lfds.report.load import Source
from lfds.report.run_spec import RequestedRun
from lfds.report.series import DEALING, Series
from lfds.report.settings import differing, settings_of
from lfds.results.record import Record

_Place = tuple[str, ...]
_Met = tuple[Series, Record]


def lay_out(sources: Sequence[Source]) -> list[Series]:
    """Return the series of all sources, named, those that were asked for and never begun included.

    Records of one pooling on one dataset with different settings are different rows; those of
    different graphs under one name are different columns.
    """
    found: dict[_Place, Series] = {}
    met: list[tuple[Series, Record, Source]] = []
    for source in sources:
        for record in source.records:
            _series_of(record, found).records.append(record)
        # A fold that counts in another source was run in this one all the same.
        mine = [(_series_of(record, found), record) for record in source.met]
        _expect_seeds_of_neighbours(mine)
        met += [(series, record, source) for series, record in mine]
    for source in sources:
        if source.wish is not None:
            # One run may have been asked for what another one has done.
            meant = [series for series, record, by in met if source.means(record, by)]
            _expect_what_was_asked_for(source.wish, meant, found)
    _name_columns(found.values())
    _name_rows(found.values())
    return list(found.values())


def _series_of(record: Record, found: dict[_Place, Series]) -> Series:
    which, settings = record.fold, settings_of(record)
    content = str(record.settings.get("content", ""))
    variant = repr(sorted(settings.items()))
    place = (which.protocol, which.pool, which.dataset, content, variant)
    if place not in found:
        found[place] = Series(
            which.protocol, which.pool, which.dataset, content, which.folds, settings
        )
    return found[place]


def _expect_seeds_of_neighbours(mine: Sequence[_Met]) -> None:
    """All poolings of one source are to be run on a dataset with the seeds that any of them has."""
    seeds: dict[tuple[object, ...], set[int]] = {}
    for series, record in mine:
        place = (series.protocol, series.dataset, series.content, series.folds)
        seeds.setdefault(place, set()).add(record.fold.seed)
    for series, _ in mine:
        series.seeds |= seeds[series.protocol, series.dataset, series.content, series.folds]


def _expect_what_was_asked_for(
    wish: RequestedRun, meant: Sequence[Series], found: dict[_Place, Series]
) -> None:
    for dataset in _names(wish.datasets, [series.dataset for series in meant]):
        for pool in wish.pools:
            begun = [s for s in meant if (s.pool, s.dataset) == (pool, dataset)]
            for series in begun:
                series.seeds |= wish.all_seeds
            if not begun:
                found[wish.protocol, pool, dataset, "", "asked for"] = Series(
                    wish.protocol, pool, dataset, "", wish.folds, {}, set(wish.all_seeds)
                )


def _names(asked: Sequence[str], met: Sequence[str]) -> list[str]:
    """Return what datasets are called in records; a file may hold a name other than its own.

    >>> _names(["ENZYMES", "mine", "DD"], ["ENZYMES", "molecules"])
    ['ENZYMES', 'molecules', 'DD']
    """
    # Folds are run in the order of the datasets, so that strange names come in that order too.
    strangers = iter(dict.fromkeys(name for name in met if name not in asked))
    return [name if name in met else next(strangers, name) for name in asked]


def _name_rows(all_series: Iterable[Series]) -> None:
    all_series = list(all_series)
    dealing = [name for name in _telling_apart(all_series) if name in DEALING]
    by_pool: dict[tuple[str, str], list[Series]] = {}
    for series in all_series:
        by_pool.setdefault((series.protocol, series.pool), []).append(series)
    for (_, pool), rivals in by_pool.items():
        names = list(dict.fromkeys([*dealing, *_telling_apart(rivals)]))
        for series in rivals:
            # Folds from files have no share for validation: that they are from files says it all.
            mine = [n for n in names if n != "validation" or n in series.settings]
            told = ", ".join(_said(name, series.settings.get(name)) for name in mine)
            series.row = f"{pool} ({told})" if told and series.settings else pool
        begun = {(series.row, series.column) for series in rivals if series.records}
        for series in rivals:
            # Asked for with settings of its own, beside records of an earlier run.
            if not series.records and (series.row, series.column) in begun:
                series.row = f"{pool} (not begun)"


def _said(name: str, value: str | None) -> str:
    """Return a setting in a few words.

    >>> _said("weight_decay", "0.1"), _said("splits", "0123456789"), _said("splits", None)
    ('weight decay 0.1', 'splits #012345', 'dealt folds')
    """
    if name == "splits":
        return f"splits #{value[:6]}" if value else "dealt folds"
    return f"{name.replace('_', ' ')} {value or '-'}"


def _telling_apart(rivals: Sequence[Series]) -> list[str]:
    """Return the settings in which series differ on one and the same graphs by one protocol."""
    names: dict[str, None] = {}
    for series in rivals:
        place = (series.protocol, series.dataset, series.content)
        same = [s for s in rivals if (s.protocol, s.dataset, s.content) == place]
        names |= dict.fromkeys(differing(s.settings for s in same if s.settings))
    return list(names)


def _name_columns(all_series: Iterable[Series]) -> None:
    """Name datasets; where graphs differ under one name, by how many there are, else by hash."""
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
            telling = count is not None and list(here.values()).count(count) == 1
            series.column += f" ({count} graphs)" if telling else f" #{series.content[:6]}"
