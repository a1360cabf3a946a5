"""Run what is missing of a table, and write the tables.

python -m benchmarks.tables run TABLE   trains the folds that are missing and packs the records
python -m benchmarks.tables write       writes results/*.csv, and the tables of the two pages
"""

import argparse
import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.tables.cells import fill
from benchmarks.tables.manifest import DATA, MANIFEST, Table, read_manifest
from benchmarks.tables.page import write_summary, write_tables
from lfds.config.messages import SpecError, choose_from
from lfds.data.atomic_io import atomic_write
from lfds.data.errors import DataError
from lfds.results.record import Record, ResultsError
from lfds.results.store import PACKED, RecordStore, read_records

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
PAGE = ROOT / "docs" / "results.md"
README = ROOT / "README.md"
SPECS = "specs.json"


def packed_records(tables: Mapping[str, Table], results: Path = RESULTS) -> list[Record]:
    """Return the records of all tables, each fold once."""
    found: dict[str, Record] = {}
    for name in tables:
        if (results / name / PACKED).exists():
            for record in read_records(results / name).records:
                found.setdefault(record.key, record)
    return list(found.values())


def pack(table: Table, records: Sequence[Record], results: Path = RESULTS) -> None:
    """Write the records that belong to a table, and the comparisons that make them."""
    cells = fill(table, records).values()
    keys = {record.key for cell in cells for record in cell.records}
    lines = "".join(record.model_dump_json() + "\n" for record in records if record.key in keys)
    # Without the time of writing, the same records are the same bytes.
    atomic_write(results / table.name / PACKED, gzip.compress(lines.encode(), mtime=0))
    begun = {cell.row.name for cell in cells if cell.records}
    specs = [spec.as_stored() for spec in table.specs(begun, table.datasets)]
    atomic_write(results / table.name / SPECS, json.dumps(specs, indent=1).encode() + b"\n")


def run(tables: Mapping[str, Table], given: argparse.Namespace) -> None:
    """Train what is missing of some rows on some datasets, and pack the records."""
    from lfds.compare import compare
    from lfds.compare.progress import progress_display

    table, out = tables[given.table], given.out or Path("build") / "tables" / given.table
    with RecordStore.open(out) as store:
        for record in packed_records(tables, given.results):
            if store.find(record.key) is None:
                store.add(record)
    for spec in table.specs(given.rows, given.datasets, given.root):
        fewer = spec.model_copy(update={"seeds": min(spec.seeds, given.seeds or spec.seeds)})
        with progress_display() as observer:
            compare(fewer, out, observer, root=given.root, workers=given.workers)
        pack(table, read_records(out).records, given.results)


def show_missing(tables: Mapping[str, Table], given: argparse.Namespace) -> None:
    """Print the cells that are not complete."""
    cells = fill(tables[given.table], packed_records(tables, given.results))
    for (row, dataset), cell in cells.items():
        seeds = min(cell.spec.seeds, given.seeds or cell.spec.seeds)
        done = sum(record.fold.seed < cell.spec.seed + seeds for record in cell.records)
        if row in given.rows and dataset in given.datasets and done < cell.spec.folds * seeds:
            print(f"{row} on {dataset}: {done} of {cell.spec.folds * seeds} folds")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tables",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--manifest", type=Path, default=MANIFEST, help="file of all tables")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of packed records")
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run", help="train the folds that are missing")
    runner.add_argument("table", metavar="TABLE", help="name of a table in the manifest")
    runner.add_argument("--rows", nargs="+", help="names of rows (default: all)")
    runner.add_argument("--datasets", nargs="+", help="names of datasets (default: all)")
    runner.add_argument("--seeds", type=int, help="number of seeds (default: of the manifest)")
    runner.add_argument("--root", type=Path, default=DATA, help="folder of datasets (%(default)s)")
    runner.add_argument("--workers", type=int, default=1, help="processes (%(default)s)")
    runner.add_argument("--out", type=Path, help="folder of the run (build/tables/TABLE)")
    runner.add_argument("--dry-run", action="store_true", help="print what is missing")
    writer = commands.add_parser("write", help="write the CSV files and the page")
    writer.add_argument("--page", type=Path, default=PAGE, help="the page (docs/results.md)")
    writer.add_argument("--readme", type=Path, default=README, help="the summary (README.md)")
    return parser


def check_names(parser: argparse.ArgumentParser, name: str, given: str, known: list[str]) -> None:
    if given not in known:
        parser.error(f"{name}: unknown name {given!r}; {choose_from(given, known)}")


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments()
    given = parser.parse_args(argv)
    tables = read_manifest(given.manifest)
    try:
        if given.command == "write":
            records = packed_records(tables, given.results)
            write_tables(tables, records, given.results, given.page)
            write_summary(tables["main"], records, given.readme)
            return 0
        check_names(parser, "TABLE", given.table, list(tables))
        table = tables[given.table]
        known = {"rows": [row.name for row in table.rows], "datasets": list(table.datasets)}
        for option, every in known.items():
            for name in getattr(given, option) or ():
                check_names(parser, f"--{option}", name, every)
            setattr(given, option, getattr(given, option) or every)
        (show_missing if given.dry_run else run)(tables, given)
    except (DataError, ResultsError, SpecError) as error:
        print(f"tables: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
