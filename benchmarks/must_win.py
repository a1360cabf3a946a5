"""Compare all poolings on datasets on which maxima and means provably fail.

Run: python -m benchmarks.must_win RUN
Trains what is missing in the folder RUN, packs the records (without curves) into
results/must-win/records.jsonl.gz and writes the table of docs/must-win.md.
With --write nothing is trained.
"""

import argparse
import gzip
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median_high

from benchmarks.marks import markdown_table, write_between
from lfds.config.comparison import CompareSpec, make_spec, read_options
from lfds.data.datasets.parts import Form, Task
from lfds.results.record import Curve, Record
from lfds.results.store import PACKED, RecordStore, read_records
from lfds.results.table import table_of

ROOT = Path(__file__).parents[1]
HOME = ROOT / "results" / "must-win"
PAGE = ROOT / "docs" / "must-win.md"
TASKS: tuple[Task, ...] = ("count", "share", "pairs")
FORMS: tuple[Form, ...] = ("set", "graph")
SUMS = "loop, reduction sum"
COUNTS = "loop, counts"
DEFAULTS = {f"{pool}, default configuration": pool for pool in ("sum", "stats", "loop")}
EXTRA_ROWS = (SUMS, COUNTS, *DEFAULTS)
"""Rows below those of all poolings."""
CONFIGURATION = ("options", "decay", "averaging")
"""What the default configuration does not take from ``spec.toml``."""


def specs() -> dict[str, CompareSpec]:
    """Return what is trained: all poolings, the loop with sums and counts, and the defaults."""
    given = read_options(HOME / "spec.toml")
    found = {"": make_spec(given)}
    for row, more in ((SUMS, {"reduction": "sum"}), (COUNTS, {"counts": True})):
        options = {**given["options"], **more}
        found[row] = make_spec({**given, "pools": ["loop"], "options": options})
    common = {name: value for name, value in given.items() if name not in CONFIGURATION}
    return found | {row: make_spec({**common, "pools": [pool]}) for row, pool in DEFAULTS.items()}


def run(folder: Path) -> None:
    """Train what is missing."""
    from lfds.compare import compare
    from lfds.compare.progress import ProgressLines

    with RecordStore.open(folder) as store:
        for record in packed():
            if store.find(record.key) is None:
                store.add(record)
    for spec in specs().values():
        compare(spec, folder, ProgressLines())


def without_curves(record: Record) -> Record:
    """Return a record without its curves, which are most of its bytes."""
    if record.outcome is None:
        return record
    outcome = record.outcome.model_copy(update={"curve": Curve()})
    return record.model_copy(update={"outcome": outcome})


def pack(records: Iterable[Record]) -> None:
    """Write the records without their curves."""
    lines = "".join(without_curves(record).model_dump_json() + "\n" for record in records)
    # Without the time of writing, the same records are the same bytes.
    (HOME / PACKED).write_bytes(gzip.compress(lines.encode(), mtime=0))


def packed() -> tuple[Record, ...]:
    """Return the packed records."""
    return read_records(HOME).records


def row_of(record: Record) -> str:
    """Return which row of the table a record belongs to."""
    network = record.settings["candidates"][0]["network"]
    if network["reduction"] == "sum":
        return SUMS
    if network.get("vector_norm"):
        return next(row for row, pool in DEFAULTS.items() if pool == record.fold.pool)
    # Records do not name counts where there was no choice yet; flat poolings have no slots.
    return COUNTS if network.get("counts") and record.fold.pool == "loop" else record.fold.pool


def accuracies(records: Sequence[Record]) -> dict[tuple[str, str], str]:
    """Return mean accuracies in % by row and dataset; a dash where folds are missing."""
    spec = specs()[""]
    renamed = [
        record.model_copy(update={"fold": record.fold.model_copy(update={"pool": row_of(record)})})
        for record in records
    ]
    table = table_of(
        "fair",
        renamed,
        pools=[*spec.pools, *EXTRA_ROWS],
        datasets=spec.data,
        folds=spec.folds,
        seeds=spec.all_seeds,
    )
    return {
        place: "-" if cell.summary is None else f"{100 * cell.summary.mean:.0f}"
        for place, cell in table.cells.items()
    }


def cost(records: Sequence[Record], row: str) -> list[str]:
    """Return median seconds and mebibytes of the folds of a row."""
    outcomes = [r.outcome for r in records if row_of(r) == row and r.outcome is not None]
    if not outcomes:
        return ["-", "-"]
    seconds = median_high(outcome.seconds for outcome in outcomes)
    memory = median_high(outcome.peak_memory or 0 for outcome in outcomes)
    return [f"{seconds:.1f}", f"{memory / 2**20:.0f}"]


def table_for(records: Sequence[Record]) -> str:
    """Return the table: in size and larger, for sets and graphs, task by task."""
    cells = accuracies(records)
    head = [f"{task}, {form}s" for task in TASKS for form in FORMS]
    lines = []
    for row in [*specs()[""].pools, *EXTRA_ROWS]:
        shown = [both(cells, row, f"parts-{task}-{form}") for task in TASKS for form in FORMS]
        lines.append([f"`{row}`", *shown, *cost(records, row)])
    return markdown_table(["pooling", *head, "s", "MB"], lines)


def both(cells: Mapping[tuple[str, str], str], row: str, dataset: str) -> str:
    return f"{cells[row, dataset]} / {cells[row, f'{dataset}-larger']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, nargs="?", default=Path("build/must-win"))
    parser.add_argument("--write", action="store_true", help="train nothing, write the table")
    given = parser.parse_args()
    if not given.write:
        run(given.run)
        pack(read_records(given.run).records)
    write_between(PAGE, "must-win", table_for(packed()))


if __name__ == "__main__":
    main()
