"""Write the page of results from folders of records.

Run: python -m benchmarks.table1 RUNS [--earlier RUNS] [--ours RUNS] [--seeds RUNS]
[--before RUNS] [--last RUNS]; docs/results.md names them.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.table1.fair import check_kept
from benchmarks.table1.notes import read_notes
from benchmarks.table1.page import Beside, page, parts_of
from lfds.data.atomic_io import atomic_write
from lfds.data.errors import DataError
from lfds.report.report import make_report
from lfds.results.errors import ResultsError

DOCS = Path(__file__).parents[2] / "docs"
BESIDE = {
    "earlier": "of an earlier reading of the paper, shown in a table of their own",
    "ours": "of the library as it comes under the paper's protocol, likewise",
    "seeds": "of the fair protocol with several seeds, likewise",
    "before": "of the fair protocol before all layers were mixed, likewise",
    "last": "of the fair protocol that kept the last epoch, shown below the others",
}


def main(told: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.table1", description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="folders of results, packed or not")
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        default=DOCS / "results.md",
        help="the page to be written (%(default)s)",
    )
    parser.add_argument(
        "--notes",
        type=Path,
        default=DOCS / "results-notes.md",
        help="commentary on the sections of the page (%(default)s)",
    )
    for name, what in BESIDE.items():
        parser.add_argument(f"--{name}", type=Path, nargs="+", help=f"folders {what}")
    given = parser.parse_args(told)
    try:
        made = make_report(given.runs)
        check_kept(made, "best")
        others = {name: make_report(asked) for name in BESIDE if (asked := getattr(given, name))}
        for name, keep in (("seeds", "best"), ("before", "best"), ("last", "last")):
            if name in others:
                check_kept(others[name], keep)
        text = page(made, read_notes(given.notes, parts_of(made)), Beside(**others))
        atomic_write(given.out, text.encode())
    except (ResultsError, DataError) as error:
        print(f"table1: {error}", file=sys.stderr)
        return 2
    print(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
