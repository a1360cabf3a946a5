import csv
from io import StringIO

from lfds.report.report import make_report
from lfds.report.text_tables import comma_separated, latex, markdown
from tests.report.runs import record, records, settings, write

NASTY = "a_b|<i>$&%"


def made(tmp_path, some):
    return make_report([write(tmp_path / "run", some)])


def test_markdown_marks_the_best_and_the_even(tmp_path):
    text = markdown(made(tmp_path, records(datasets=["ENZYMES"])).by("fair"))
    rows = {line.split("|")[1].strip(): line for line in text.splitlines() if line[:1] == "|"}
    assert "rule fair" in text.splitlines()[0]
    assert sum("**" in row for row in rows.values()) == 1
    assert "*" not in rows["max"]
    assert all("*" in rows[pool] for pool in ("loop", "image"))
    assert "Nadeau and Bengio" in text
    assert "Holm" in text


def test_what_is_missing_is_said_in_every_format(tmp_path):
    some = [*records(["max"], ["A"]), *records(["loop"], ["A"])[:2], record("gmt", "B")]
    report = made(tmp_path, some)
    for text in (markdown(report.by("fair")), latex(report.by("fair"))):
        assert "2 of 5 folds" in text
        assert " - " in text
    lines = list(csv.DictReader(StringIO(comma_separated(list(report.standings)))))
    assert [(line["pool"], line["done"], line["mean"]) for line in lines[1:]] == [
        ("loop", "2", ""), ("gmt", "1", ""),
    ]  # fmt: skip


def test_names_are_text_in_every_format(tmp_path):
    report = made(tmp_path, records(["max"], [NASTY]))
    assert "a\\_b\\|\\<i\\>$&%" in markdown(report.by("fair"))
    assert "a\\_b$|$$<$i$>$\\$\\&\\%" in latex(report.by("fair"))
    sheet = made(tmp_path, [record("=1+1", NASTY, told=settings("x"))])
    (line,) = csv.DictReader(StringIO(comma_separated(list(sheet.standings))))
    assert (line["pool"], line["dataset"]) == ("'=1+1", NASTY)


def test_the_numbers_of_csv_are_exact_and_hold_the_paper_beside_them(tmp_path):
    report = made(tmp_path, records(["max", "loop"], ["ENZYMES"], protocol="paper"))
    lines = list(csv.DictReader(StringIO(comma_separated(list(report.standings)))))
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
