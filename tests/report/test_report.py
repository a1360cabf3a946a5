import subprocess
import sys

import pytest

from lfds.report.report import make_report
from tests.report.runs import records, write


def test_runs_are_merged(tmp_path):
    first = write(tmp_path / "one", records(["max"]))
    second = write(tmp_path / "two", records(["loop"], protocol="paper"))
    made = make_report([first, str(second)])
    assert made.rules == ("fair", "last", "common-best", "fold-best")
    assert made.by("last").rows == ("loop",)
    assert len(made.records) == 20
    assert made.complete


@pytest.mark.parametrize("missing", [0, 7])
def test_it_is_complete_only_as_a_whole(tmp_path, missing):
    some = records()
    del some[missing]
    assert not make_report([write(tmp_path / "run", some)]).complete


def test_reports_are_made_without_torch(tmp_path):
    folder = write(tmp_path / "run", records(["max"], ["A"]))
    code = (
        "import sys\nfrom lfds.cli import main\n"
        "try: main()\nexcept SystemExit as left: assert not left.code, left.code\n"
        "print('torch' in sys.modules, 'matplotlib' in sys.modules)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, "report", folder], capture_output=True, text=True, check=True
    )
    assert shown.stdout.endswith("False True\n")
