"""Where maxima and means must fail: every pooling on objects made of parts.

Run: python -m benchmarks.must_win RUN
Goes on with the comparisons in the folder RUN, keeps their records (without curves) in
results/must-win/records.jsonl.gz and writes the tables of docs/must-win.md.
With --as-it-is nothing is run: what is there is kept and shown, and the rest is a dash.
"""

import argparse
import gzip
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lfds.compare import CompareSpec, compare
from lfds.compare.progress import Lines
from lfds.config.comparison import make_spec, read_options
from lfds.data.datasets.parts.settings import Form, Task
from lfds.results.record import Curve, Record
from lfds.results.store import read_records
from lfds.results.table import table_of

ROOT = Path(__file__).parents[1]
HOME = ROOT / "results" / "must-win"
KEPT = HOME / "records.jsonl.gz"
PAGE = ROOT / "docs" / "must-win.md"
TASKS: tuple[Task, ...] = ("count", "share", "pairs")
FORMS: tuple[Form, ...] = ("set", "graph")
SUMS = "loop, reduction sum"
COUNTS = "loop, counts"
DEFAULT = "loop, as it comes"
MORE = (SUMS, COUNTS, DEFAULT)
"""Rows below those of all poolings."""
CHOSEN = ("options", "decay", "averaging")
"""What is told of network and training beyond the number of epochs."""


def specs() -> dict[str, CompareSpec]:
    """Return what is run: all rows, and the loop with sums, with counts, and as it comes."""
    told = read_options(HOME / "spec.toml")
    found = {"": make_spec(told)}
    for row, more in ((SUMS, {"reduction": "sum"}), (COUNTS, {"counts": True})):
        options = {**told["options"], **more}
        found[row] = make_spec({**told, "pools": ["loop"], "options": options})
    asked = {name: value for name, value in told.items() if name not in CHOSEN}
    found[DEFAULT] = make_spec({**asked, "pools": ["loop"]})
    return found


def run(folder: Path) -> None:
    """Run what is missing."""
    for spec in specs().values():
        compare(spec, folder, Lines())


def slim(record: Record) -> Record:
    """Return a record without its curves, which are most of its bytes."""
    if record.outcome is None:
        return record
    outcome = record.outcome.model_copy(update={"curve": Curve()})
    return record.model_copy(update={"outcome": outcome})


def keep(records: Iterable[Record]) -> None:
    HOME.mkdir(parents=True, exist_ok=True)
    lines = "".join(record.model_dump_json() + "\n" for record in records)
    # Without the time of writing: the same records are the same file.
    KEPT.write_bytes(gzip.compress(lines.encode(), mtime=0))


def kept() -> list[Record]:
    lines = gzip.decompress(KEPT.read_bytes()).decode().splitlines()
    return [Record.model_validate_json(line) for line in lines]


def row_of(record: Record) -> str:
    """Return which row of the tables a record belongs to."""
    network = record.settings["candidates"][0]["network"]
    if network["reduction"] == "sum":
        return SUMS
    # Records from before there were counts, or a mix of layers, have none.
    if network.get("pooled_layers") == "all":
        return DEFAULT
    return COUNTS if network.get("counts") else record.fold.pool


def accuracies(records: Sequence[Record]) -> dict[tuple[str, str], str]:
    """Return mean and spread in % by row and dataset; a dash where folds are missing."""
    spec = specs()[""]
    rows = [*spec.pools, *MORE]
    renamed = [
        record.model_copy(update={"fold": record.fold.model_copy(update={"pool": row_of(record)})})
        for record in records
    ]
    table = table_of(
        "fair", renamed, pools=rows, datasets=spec.data, folds=spec.folds, seeds=spec.all_seeds
    )
    return {
        place: "-" if cell.summary is None else f"{100 * cell.summary.mean:.0f}"
        for place, cell in table.cells.items()
    }


def cost(records: Sequence[Record], row: str) -> str:
    """Return median seconds and megabytes of the folds of a row."""
    ends = [r.outcome for r in records if row_of(r) == row and r.outcome is not None]
    if not ends:
        return "- | -"
    seconds = sorted(end.seconds for end in ends)[len(ends) // 2]
    memory = sorted(end.peak_memory or 0 for end in ends)[len(ends) // 2]
    return f"{seconds:.1f} | {memory / 2**20:.0f}"


def table_for(records: Sequence[Record]) -> str:
    """Return the table of all rows: in size and larger, for sets and graphs, task by task."""
    cells = accuracies(records)
    head = [f"{task}, {form}s" for task in TASKS for form in FORMS]
    lines = [
        "| pooling | " + " | ".join(head) + " | s | MB |",
        "|---|" + "--:|" * (len(head) + 2),
    ]
    for row in [*specs()[""].pools, *MORE]:
        shown = [both(cells, row, f"parts-{task}-{form}") for task in TASKS for form in FORMS]
        lines.append(f"| `{row}` | " + " | ".join(shown) + f" | {cost(records, row)} |")
    return "\n".join(lines)


def both(cells: Mapping[tuple[str, str], str], row: str, dataset: str) -> str:
    return f"{cells[row, dataset]} / {cells[row, f'{dataset}-larger']}"


def write_page(records: Sequence[Record]) -> None:
    """Put the table between the two marks of the page."""
    before, rest = PAGE.read_text().split("<!-- table -->\n")
    _, after = rest.split("<!-- end -->\n")
    PAGE.write_text(f"{before}<!-- table -->\n{table_for(records)}\n<!-- end -->\n{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, nargs="?", default=Path("build/must-win"))
    parser.add_argument("--as-it-is", action="store_true")
    told = parser.parse_args()
    if not told.as_it_is:
        run(told.run)
    keep(map(slim, read_records(told.run).records))
    write_page(kept())


if __name__ == "__main__":
    main()
