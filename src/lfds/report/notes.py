"""What a page says in sentences and small tables: the headline, the state, settings, versions."""

from collections import Counter

from lfds.report.formatting import spans
from lfds.report.report import Report
from lfds.report.series import Series
from lfds.report.settings import differing


def headline(made: Report) -> str:
    """Return what is compared by any rule, as a title."""
    rows = {row for standing in made.standings for row in standing.rows}
    columns = [column for standing in made.standings for column in standing.columns]
    poolings = "1 pooling" if len(rows) == 1 else f"{len(rows)} poolings"
    where = columns[0] if len(set(columns)) == 1 else f"{len(set(columns))} datasets"
    return f"{poolings} on {where}"


def state_of(made: Report) -> str:
    """Return how far a run has come, in one sentence."""
    wanted = sum(series.wanted for series in made.series)
    done = sum(len(series.done) for series in made.series)
    failed = sum(len(series.failed) for series in made.series)
    if made.complete:
        return f"All {wanted} folds ended well."
    parts = [f"{done} of {wanted} folds ended well"]
    if failed:
        parts.append(f"{failed} failed")
    if done + failed < wanted:
        parts.append(f"{wanted - done - failed} have not been run")
    return ", ".join(parts) + "."


def settings_table(made: Report) -> tuple[dict[str, str], list[str], list[tuple[str, list[str]]]]:
    """Return settings that all folds share, the names of the others, and their values by place."""
    begun = [series for series in made.series if series.settings]
    known = [_all_settings(series) for series in begun]
    apart = differing(known)
    shared = {n: v for settings in known[:1] for n, v in settings.items() if n not in apart}
    groups: dict[tuple[str, ...], list[Series]] = {}
    for series, settings in zip(begun, known, strict=True):
        groups.setdefault(tuple(settings.get(n, "-") for n in apart), []).append(series)
    rows = {series.row for series in begun}
    return shared, apart, [(_where(group, rows), list(v)) for v, group in groups.items()]


def _all_settings(series: Series) -> dict[str, str]:
    return {"protocol": series.protocol, "seeds": spans(series.seeds)} | dict(series.settings)


def _where(group: list[Series], rows: set[str]) -> str:
    """Return which rows and columns a group of series is, as briefly as is true."""
    mine = list(dict.fromkeys(series.row for series in group))
    columns = list(dict.fromkeys(series.column for series in group))
    if len(mine) * len(columns) > len({(series.row, series.column) for series in group}):
        return ", ".join(f"{series.row} on {series.column}" for series in group)
    who = "all poolings" if set(mine) == rows and len(rows) > 1 else ", ".join(mine)
    return f"{who} on {', '.join(columns)}"


def versions_table(made: Report) -> list[tuple[str, str, int]]:
    """Return program, version, and how many folds were run with it."""
    counts = Counter(pair for record in made.records for pair in record.versions.items())
    return [(name, version, count) for (name, version), count in counts.items()]
