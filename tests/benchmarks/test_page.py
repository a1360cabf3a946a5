import re

import pytest
from benchmarks.pack import pack
from benchmarks.table1.__main__ import main

from tests.benchmarks.runs import fair_run, paper_run
from tests.report.runs import write


@pytest.fixture
def runs(tmp_path):
    some = paper_run(["max", "loop"], "ENZYMES", by=0.15)
    asked = {"data": ["ENZYMES"], "pools": ["max", "loop", "sort"], "protocol": "paper", "folds": 3}
    both = fair_run({"max": [0.5, 0.6, 0.5], "loop": [0.7, 0.8, 0.6]}, "DD")
    first = write(tmp_path / "paper-ENZYMES", some, asked)
    return [pack(first, tmp_path / "results"), write(tmp_path / "fair-DD", both)]


def written(tmp_path, runs, *more):
    out = tmp_path / "results.md"
    assert main([*map(str, runs), "-o", str(out), *more]) == 0
    return out.read_text(encoding="utf-8")


def test_the_page_is_written_from_packed_and_plain_runs(tmp_path, runs, capsys):
    text = written(tmp_path, runs, "--notes", str(tmp_path / "none"))
    assert capsys.readouterr().out == f"{tmp_path / 'results.md'}\n"
    assert "$" not in text
    assert text.count("\n## ") == 4
    assert "| `max` | 69.2 ± 4.5 | 25.0 ± 0.0 | 68.3 ± " in text
    assert "| within one standard deviation under common-best, fold-best |" in text
    assert "| `loop` | +16.7 (p " in text
    assert "results/paper-ENZYMES/spec.json" in text
    assert str(tmp_path) not in text


def test_an_earlier_reading_has_a_table_of_its_own(tmp_path, runs):
    none = str(tmp_path / "none")
    before = write(tmp_path / "unnormed-ENZYMES", paper_run(["sort"], "ENZYMES"))
    plain = written(tmp_path, runs, "--notes", none)
    text = written(tmp_path, runs, "--notes", none, "--earlier", str(before))
    head, table = text.split("### An earlier reading\n")
    assert "| `sort` | 10.0 / 56.7 | not run |" in table
    assert "| `sort` | 63.2 ± 3.7 | not run |" in head
    assert "earlier reading" not in plain


def test_runs_that_kept_the_last_epoch_stand_below_the_others(tmp_path, runs):
    notes = tmp_path / "notes.md"
    notes.write_text("## last\nOf the end.\n\n## fair\nOf the best.\n")
    kept = fair_run({"max": [0.4, 0.4, 0.4], "loop": [0.5, 0.5, 0.5]}, "DD", keep="last")
    ended = write(tmp_path / "last-DD", kept)
    plain = written(tmp_path, runs, "--notes", str(notes))
    text = written(tmp_path, runs, "--notes", str(notes), "--last", str(ended))
    head, rest = text.split("### Keeping the last epoch\n")
    part, _ = rest.split("\n## What a fold costs\n")
    assert "| `loop` | 50.0 ± 0.0 |" in part
    assert "| `loop` | +10.0 (p" in part.replace("**", "")
    assert "Of the end." in part
    assert "Of the best." in head
    assert "`sort`" not in part  # rows that were not run are told of once
    assert "`sort`" in head
    assert "last epoch\n" not in plain


@pytest.mark.parametrize(
    ("option", "head"),
    [("seeds", "With several seeds"), ("before", "Before all layers were mixed")],
)
def test_other_runs_of_the_fair_protocol_have_tables_of_their_own(tmp_path, runs, option, head):
    notes = tmp_path / "notes.md"
    notes.write_text(f"## {option}\nOf these.\n")
    others = fair_run({"max": [0.4, 0.4, 0.4], "loop": [0.5, 0.5, 0.5]}, "DD")
    folder = write(tmp_path / f"{option}-DD", others)
    text = written(tmp_path, runs, "--notes", str(notes), f"--{option}", str(folder))
    above, part = text.split(f"### {head}\n")
    part, _ = part.split("\n## What a fold costs\n")
    assert "| `loop` | 50.0 ± 0.0 |" in part
    assert "Of these." in part
    assert "| `loop` | 70.0 ± 10.0 |" in above
    assert head not in written(tmp_path, runs, "--notes", str(notes))


def test_our_own_network_stands_below_the_rows_of_the_paper(tmp_path, runs):
    mine = write(tmp_path / "ours-DD", paper_run(["loop"], "DD"))
    given = ["--notes", str(tmp_path / "none"), "--ours", str(mine)]
    part = written(tmp_path, runs, *given).split("### The library as it comes, by the same rules")[
        1
    ]
    assert "| `loop` | 10.0 / 53.3 / 56.7 |" in part.split("\n## Under the fair protocol\n")[0]


def test_runs_are_shown_as_what_they_are(tmp_path, runs, capsys):
    """Neither may a chosen epoch pass for the last one, nor the other way round."""
    last = write(tmp_path / "last-DD", fair_run({"max": [0.4, 0.4, 0.4]}, "DD", keep="last"))
    out = tmp_path / "results.md"
    given = ["-o", str(out), "--notes", str(tmp_path / "none")]
    for told in ([*map(str, runs), "--last", str(runs[1])], [str(runs[0]), str(last)]):
        assert main([*told, *given]) == 2
        assert re.search("max on DD kept the (best|last) epoch", capsys.readouterr().err)
        assert not out.exists()


def test_what_was_said_by_hand_survives(tmp_path, runs):
    notes = tmp_path / "notes.md"
    notes.write_text("## ENZYMES\nBecause of the $x$.\n\n## summary\nIn short.\n")
    first = written(tmp_path, runs, "--notes", str(notes))
    assert written(tmp_path, runs, "--notes", str(notes)) == first
    assert "\nBecause of the $x$.\n" in first
    assert "\nIn short.\n" in first


@pytest.mark.parametrize(
    ("notes", "run", "said"),
    [
        ("## nowhere\nLost.", None, "no part of the page is called 'nowhere'"),
        ("", "nothing", "cannot be read"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_written(tmp_path, runs, notes, run, said, capsys):
    (tmp_path / "notes.md").write_text(notes)
    given = [tmp_path / run] if run else runs
    out = tmp_path / "results.md"
    code = main([*map(str, given), "-o", str(out), "--notes", str(tmp_path / "notes.md")])
    err = capsys.readouterr().err
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1
    assert not out.exists()


def test_every_argument_is_explained(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    out = " ".join(capsys.readouterr().out.split())
    for words in (
        "runs folders of results",
        "the page to be written",
        "commentary on the sections",
        "folders of an earlier reading",
        "that kept the last epoch",
        "with several seeds",
        "before all layers were mixed",
        "of the library as it comes",
    ):
        assert words in out
