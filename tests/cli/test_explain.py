import sys

import pytest

from lfds.cli import main
from tests.explain.models import clouds, fitted


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    fitted().save(folder / "model")
    clouds().save(folder / "graphs")
    return folder


def run(monkeypatch, *args):
    monkeypatch.setattr(sys, "argv", ["lfds", "explain", *map(str, args)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_a_page_and_figures_come_out(monkeypatch, saved, tmp_path, capsys):
    page, figures = tmp_path / "a.html", tmp_path / "figures"
    options = ("-o", page, "--pick", 3, 7, "--figures", figures)
    assert run(monkeypatch, saved / "model", saved / "graphs", *options) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith(f"2 of 16 graphs in {page} (0.")
    assert told[1] == f"8 figures in {figures}"
    assert "Where the nodes go" in page.read_text(encoding="utf-8")
    assert sorted(path.name for path in figures.iterdir())[2] == "graph-0003.png"


def test_how_many_graphs_can_be_told(monkeypatch, saved, tmp_path, capsys):
    options = ("-o", tmp_path / "a.html", "--graphs", 5)
    assert run(monkeypatch, saved / "model", saved / "graphs", *options) == 0
    assert capsys.readouterr().out.startswith("5 of 16 graphs")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--pick", 99), "lfds: there is no graph 99; they are numbered 0 to 15"),
        (("--graphs", 0), "lfds: show needs at least 1 graph, not 0"),
        (("--graphs", 1, "--pick", 1), "lfds: --graphs says how many and --pick which"),
    ],
)
def test_wrong_wishes_are_one_line(monkeypatch, saved, tmp_path, capsys, options, words):
    out = tmp_path / "a.html"
    assert run(monkeypatch, saved / "model", saved / "graphs", "-o", out, *options) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(words)
    assert captured.err.count("\n") == 1
    assert not out.exists()


def test_a_model_that_is_not_there_is_one_line(monkeypatch, saved, tmp_path, capsys):
    assert run(monkeypatch, tmp_path / "none", saved / "graphs", "-o", tmp_path / "a.html") == 2
    assert str(tmp_path / "none") in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_cannot_be_written_is_one_line(monkeypatch, saved, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "a.html"
    assert run(monkeypatch, saved / "model", saved / "graphs", "-o", out) == 2
    assert capsys.readouterr().err.startswith(f"lfds: {out}: cannot be written")
