"""Keep a run in the repository: its records compressed, and what it was asked for.

Run: python -m benchmarks.pack RUN [RUN ...] [--to results]
Writes results/NAME/records.jsonl.gz and results/NAME/spec.json, NAME being that of the folder RUN.
Of each fold the record that counts is kept, whole, so that every report can be made of it again.
"""

import argparse
import gzip
import sys
from collections.abc import Sequence
from pathlib import Path

from lfds.data.atomic_io import atomic_write
from lfds.data.errors import DataError
from lfds.report.load import counting
from lfds.report.run_spec import SPEC
from lfds.results.errors import ResultsError
from lfds.results.store import PACKED, read_records

RESULTS = Path(__file__).parents[1] / "results"


def pack(run: Path, to: Path) -> Path:
    """Write the records of a run, and its spec, to a folder of its name; return that folder."""
    records = counting(read_records(run).records)
    if not records:
        raise ResultsError("no fold has come to an end yet", source=run)
    try:
        spec = (run / SPEC).read_bytes()
    except OSError as error:
        raise ResultsError(
            f"cannot be read ({error.strerror}); it says what the run was asked for",
            source=run / SPEC,
        ) from error
    lines = "".join(record.model_dump_json() + "\n" for record in records)
    home = to / run.resolve().name
    # Without the time of writing: the same records are the same file.
    atomic_write(home / PACKED, gzip.compress(lines.encode(), mtime=0))
    atomic_write(home / SPEC, spec)
    return home


def main(told: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pack", description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="folders of runs, finished or not")
    parser.add_argument(
        "--to", type=Path, default=RESULTS, help="where packed runs are kept (%(default)s)"
    )
    given = parser.parse_args(told)
    try:
        for run in given.runs:
            home = pack(run, given.to)
            print(f"{home}: {(home / PACKED).stat().st_size / 1000:.0f} kB")
    except (ResultsError, DataError) as error:
        print(f"pack: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
