import gzip
import os
import sys

import pytest

from lfds.cli import main
from tests.report.runs import make_spec, records, write


@pytest.fixture
def report(monkeypatch, capsys, tmp_path):
    write(
        tmp_path / "run", records(["max", "loop"], ["ENZYMES", "MUTAG"]), make_spec(["max", "loop"])
    )
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["lfds", "report", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, *capsys.readouterr()

    return run


def test_page_is_written_to_the_folder_and_its_path_printed(report, tmp_path):
    assert report("run") == (0, "run/report.html\n", "")
    first = (tmp_path / "run" / "report.html").read_bytes()
    assert first.startswith(b"<!doctype html>")
    report("run")
    assert (tmp_path / "run" / "report.html").read_bytes() == first


def test_page_about_a_file_is_written_beside_it(report, tmp_path):
    (tmp_path / "fair.jsonl").write_bytes((tmp_path / "run" / "records.jsonl").read_bytes())
    assert report("fair.jsonl") == (0, "fair.html\n", "")


@pytest.mark.parametrize(
    ("form", "begins"), [("md", "Accuracy in %"), ("tex", "% rule fair"), ("csv", "rule,pool")]
)
def test_tables_go_to_standard_output_or_a_file(report, tmp_path, form, begins):
    code, out, err = report("run", "--format", form)
    assert (code, err) == (0, "")
    assert out.startswith(begins)
    assert report("run", "--format", form, "-o", "to/table.x") == (0, "to/table.x\n", "")
    assert (tmp_path / "to" / "table.x").read_text() == out
    assert not (tmp_path / "run" / "report.html").exists()


def test_several_runs_are_one_report(report, tmp_path):
    write(tmp_path / "more", records(["max", "loop"], protocol="paper"))
    assert report("run", "more", "-o", "both.html")[0] == 0
    assert 'id="rule-fold-best"' in (tmp_path / "both.html").read_text()
    code, out, _ = report("run", "more", "--format", "md", "--rule", "common-best")
    assert (code, "rule common-best" in out) == (0, True)
    _, out, _ = report("run", "more", "--format", "csv")
    assert len(out.splitlines()) == 1 + 4 * 4
    _, out, _ = report("run", "more", "--format", "csv", "--rule", "last")
    assert len(out.splitlines()) == 1 + 4


def test_figures_are_written_as_png_and_svg(report, tmp_path):
    code, out, err = report("run", "--format", "md", "--figures", "figures")
    assert (code, out[:8]) == (0, "Accuracy")
    assert err == "13 figures, as PNG and SVG, are in figures\n"
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert len(names) == 26
    assert {"ranks-fair.png", "folds-ENZYMES-fair.svg", "pairs-MUTAG-fair.png"} <= names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: no such file or folder"),
        (
            ["run", "--format", "htm"],
            "invalid --format 'htm'; did you mean 'html'? choose from html, md",
        ),
        (["run", "--rule", "fold-best"], "invalid --rule 'fold-best'; choose from fair"),
        (["run", "run"], "name it with -o FILE"),
        (["broken"], "broken/records.jsonl, line 1: invalid record"),
        (["empty"], "run lfds compare first"),
        (["run", "-o", "run"], "is a folder, where a file is to be written"),
        (["run", "-o", "run/spec.json/x.html"], "spec.json: is a file, where a folder"),
        (
            ["run", "--format", "md", "--figures", "run/spec.json"],
            "spec.json: is a file, where a folder",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2_and_writes_nothing(
    report, tmp_path, arguments, message
):
    write(tmp_path / "empty", [])
    write(tmp_path / "broken", [])
    (tmp_path / "broken" / "records.jsonl").write_text("{}\n{}\n")
    before = sorted(path for path in tmp_path.rglob("*"))
    code, out, err = report(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert sorted(path for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("given", "out"),
    [
        ("run", "run/records.jsonl"),
        ("run", "run/spec.json"),
        ("run/records.jsonl", "run/records.jsonl"),
        ("run/records.jsonl", "run/../run/spec.json"),
        ("run", "linked"),
        ("packed", "packed/records.jsonl.gz"),
        ("records.html", None),
    ],
)
@pytest.mark.parametrize("form", ["md", "html"])
def test_inputs_are_never_overwritten(report, tmp_path, given, out, form):
    records_there = tmp_path / "run" / "records.jsonl"
    (tmp_path / "linked").symlink_to(records_there)
    (tmp_path / "packed").mkdir()
    (tmp_path / "packed" / "records.jsonl.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "records.html").write_bytes(records_there.read_bytes())
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    where = ["-o", out or given, "--figures", "figures"]
    code, printed, err = report(given, "--format", form, *where)
    assert (code, printed) == (2, "")
    assert "would be overwritten; name another file with -o" in err
    assert len(err.splitlines()) == 1
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_devices_and_pipes_are_written_to_and_never_replaced(report, tmp_path):
    """Even where the folder would allow to replace them."""
    os.symlink("/dev/null", tmp_path / "null")
    assert report("run", "-o", "null") == (0, "", "null\n")
    assert (tmp_path / "null").is_symlink()
    read, write = os.pipe()
    try:
        assert report("run", "--format", "csv", "-o", f"/proc/self/fd/{write}")[:2] == (0, "")
        assert os.read(read, 9) == b"rule,pool"
    finally:
        os.close(read)
        os.close(write)
    code, out, err = report("run", "-o", "/dev/full")
    assert (code, out) == (2, "")
    assert err == "lfds: /dev/full: cannot be written (No space left on device)\n"
