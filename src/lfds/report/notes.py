"""What a page says in sentences and small tables: the headline, the state, settings, versions."""

from collections import Counter

from lfds.report.report import Report
from lfds.report.settings import differing
from lfds.report.words import spans
from lfds.results.record import Rule


def headline(made: Report, rule: Rule) -> str:
    """Return what is compared, as a title."""
    standing = made.by(rule)
    rows, columns = len(standing.rows), len(standing.columns)
    poolings = "1 pooling" if rows == 1 else f"{rows} poolings"
    where = standing.columns[0] if columns == 1 else f"{columns} datasets"
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


def settings_table(made: Report) -> tuple[dict[str, str], list[str], list[dict[str, str]]]:
    """Return settings that all folds share, the names of the others, and these for each series."""
    begun = [series for series in made.series if series.settings]
    known = [dict(series.settings) | {"seeds": spans(series.seeds)} for series in begun]
    apart = differing(known)
    shared = {n: v for settings in known[:1] for n, v in settings.items() if n not in apart}
    others = [
        {"row": series.row, "column": series.column, "protocol": series.protocol}
        | {name: settings.get(name, "-") for name in apart}
        for series, settings in zip(begun, known, strict=True)
    ]
    return shared, apart, others


def versions_table(made: Report) -> list[tuple[str, str, int]]:
    """Return program, version, and how many folds were run with it."""
    counts = Counter(pair for record in made.records for pair in record.versions.items())
    return [(name, version, count) for (name, version), count in counts.items()]
