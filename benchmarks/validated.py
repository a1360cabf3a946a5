"""What validation graphs say of published runs: the last epochs of every row, test graphs unseen.

Run: python -m benchmarks.validated
Reads the runs of the fair protocol under results/, before nodes were normed and slots weighted
(bare-*), since (normed-fair-*), and since all layers are mixed (fair-*), and writes the table of
docs/factors.md.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import mean

from benchmarks.factors import LAST, PAGE, ROOT, between_marks
from lfds.report.slots import has_slots
from lfds.results.record import Record
from lfds.results.store import read_records

RESULTS = ROOT / "results"
STATES = {
    "bare": "of the last layer, as it is, by maxima",
    "normed-fair": "of the last layer, normed, by weights too",
    "fair": "as it comes",
}
Row = tuple[str, str]


def last_epochs(record: Record) -> float | None:
    """The mean validation accuracy of the last epochs of a fold, in %."""
    if record.outcome is None:
        return None
    return 100 * mean(record.outcome.curve.validation[-LAST:])


def seen(folder: Path) -> dict[str, float]:
    """The mean over the folds of each pooling of a run, where all of them ended well."""
    folds: dict[str, list[float | None]] = {}
    sizes: dict[str, int] = {}
    for record in read_records(folder).records:
        folds.setdefault(record.fold.pool, []).append(last_epochs(record))
        sizes[record.fold.pool] = record.fold.folds
    means = {}
    for pool, values in folds.items():
        ended = [value for value in values if value is not None]
        if len(ended) == sizes[pool]:
            means[pool] = mean(ended)
    return means


def rows(folders: Iterable[Path]) -> dict[Row, dict[str, float]]:
    """For each state and pooling the datasets on which it was run; states differ in structures."""
    found: dict[Row, dict[str, float]] = {}
    for folder in folders:
        state = next(state for state in STATES if folder.name.startswith(f"{state}-"))
        dataset = folder.name.removeprefix(f"{state}-")
        for pool, value in seen(folder).items():
            shown = STATES[state] if has_slots(pool) else ""
            found.setdefault((pool, shown), {})[dataset] = value
    return found


def table(found: Mapping[Row, Mapping[str, float]]) -> str:
    """All rows beside each other, with their mean where no dataset is missing."""
    datasets = list(dict.fromkeys(name for row in found.values() for name in row))
    lines = [
        f"| pooling | | {' | '.join(datasets)} | mean |",
        f"|---|---|{'--:|' * (len(datasets) + 1)}",
    ]
    for (pool, state), values in sorted(found.items()):
        cells = [f"{values[name]:.1f}" if name in values else "-" for name in datasets]
        whole = f"{mean(values.values()):.1f}" if len(values) == len(datasets) else "-"
        lines.append(f"| `{pool}` | {state} | {' | '.join(cells)} | {whole} |")
    return "\n".join(lines)


def written(page: str) -> str:
    """The page with the table of what is published now."""
    folders = [folder for state in STATES for folder in sorted(RESULTS.glob(f"{state}-*"))]
    shown = table(rows(folder for folder in folders if not folder.name.startswith("bare-last-")))
    return between_marks(page, "validated", shown)


def main() -> None:
    PAGE.write_text(written(PAGE.read_text()))


if __name__ == "__main__":
    main()
