import csv
from io import StringIO

from lfds.report.load import make_report
from lfds.report.table import comma_separated, latex, markdown
from tests.report.runs import make_settings, record, records, write

NASTY = "a_b|<i>$&%"


def made(tmp_path, some):
    return make_report([write(tmp_path / "run", some)])


def test_markdown_marks_the_best_and_those_not_significantly_worse(tmp_path):
    text = markdown(made(tmp_path, records(datasets=["ENZYMES"])).by("fair"))
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line[:1] == "|"}
    assert "rule fair" in text.splitlines()[0]
    assert sum("**" in row for row in rows.values()) == 1
    assert "*" not in rows["max"]
    assert all("*" in rows[pool] for pool in ("loop", "image"))
    assert "Nadeau and Bengio" in text
    assert "Holm" in text


def test_every_format_shows_incomplete_rows(tmp_path):
    some = [*records(["max"], ["A"]), *records(["loop"], ["A"])[:2], record("gmt", "B")]
    report = made(tmp_path, some)
    for text in (markdown(report.by("fair")), latex(report.by("fair"))):
        assert "2 of 5 folds" in text
        assert " - " in text
    lines = list(csv.DictReader(StringIO(comma_separated(report.leaderboards))))
    assert [(line["pool"], line["done"], line["mean"]) for line in lines[1:]] == [
        ("loop", "2", ""), ("gmt", "1", ""),
    ]  # fmt: skip


def test_every_format_escapes_names(tmp_path):
    report = made(tmp_path, records(["max"], [NASTY]))
    assert "a\\_b\\|\\<i\\>$&%" in markdown(report.by("fair"))
    assert "a\\_b$|$$<$i$>$\\$\\&\\%" in latex(report.by("fair"))
    sheet = made(tmp_path, [record("=1+1", NASTY, settings=make_settings("x"))])
    (line,) = csv.DictReader(StringIO(comma_separated(sheet.leaderboards)))
    assert (line["pool"], line["dataset"]) == ("'=1+1", NASTY)


def test_csv_has_exact_numbers_and_those_of_the_paper(tmp_path):
    report = made(tmp_path, records(["max", "loop"], ["ENZYMES"], protocol="paper"))
    lines = list(csv.DictReader(StringIO(comma_separated(report.leaderboards))))
    assert [line["rule"] for line in lines[::2]] == ["last", "common-best", "fold-best"]
    summary = report.by("last").entries["max", "ENZYMES"].summary
    assert float(lines[0]["mean"]) == summary.mean
    assert float(lines[1]["paper_mean"]) == 0.743
    assert lines[0]["seconds"] == "4.0"


def test_latex_has_a_cell_for_every_column(tmp_path):
    text = latex(made(tmp_path, records()).by("fair"))
    rows = [line for line in text.splitlines() if line.endswith("\\\\")]
    assert {row.count("&") for row in rows} == {2}
    assert "\\textbf{" in text
    assert "\\underline{" in text
