import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from lfds.cli.app import app
from lfds.data import DataError, GraphSet
from lfds.data.datasets.catalog import BUILT_IN, TU_DATASETS
from tests.data.graphs import SHARED, needs_shared, three_graphs
from tests.data.server import serving
from tests.data.tu_folders import FILES, write_folder, write_zip


def run(*arguments):
    result = CliRunner().invoke(app, ["data", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_list_shows_which_files_exist(tmp_path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "DD.zip").touch()
    lines = {line.split()[0]: line for line in run("list", "--root", tmp_path).splitlines() if line}
    assert "yes" in lines["DD"]
    assert "yes" not in lines["ENZYMES"]
    assert "built in" in lines["pc-graphs"]
    assert "284.32" in lines["DD"]


@pytest.mark.parametrize("width", [12, 40, 60, 80, 95, 120, 300])
def test_list_never_cuts_words(width, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = run("list", "--root", tmp_path)
    words = set(shown.split())
    for name, published in (*TU_DATASETS.items(), *BUILT_IN.items()):
        assert {name, *published.about.removesuffix(".").split()} - words <= {
            word for word in published.about.split() if f"{word}:" in words
        }
    assert "…" not in shown
    most = max(len(word) for word in words)
    assert all(len(line.rstrip()) <= max(width, most + 2) for line in shown.splitlines())


def test_info_shows_statistics(tmp_path):
    output = run("info", write_folder(tmp_path / "S", FILES))
    assert "2 (-1: 1, 1: 2)" in output
    assert "3, 1 without nodes" in output
    assert "6, 1 isolated" in output
    assert "4 undirected, 1 self loops" in output
    assert "no statistics to compare with" in output
    assert "duplicate edges removed  1" in output


def test_info_reads_saved_sets_and_datasets_by_name(tmp_path):
    three_graphs().save(tmp_path / "saved")
    assert "missing" in run("info", tmp_path / "saved")
    write_zip(tmp_path / "S.zip", FILES)
    assert "S" in run("info", "S", "--root", tmp_path)


def test_info_shows_regression_and_directed_edges(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"nodes": 2, "edges": [[0, 1]], "directed": true, "label": 1.5}'
    )
    output = run("info", tmp_path / "a.jsonl")
    assert "none: regression" in output
    assert "1 undirected, 1 in one direction only" in output


def test_prepare_downloads_checks_and_saves(tmp_path):
    with serving(write_zip(tmp_path / "packed.zip", FILES).read_bytes()) as server:
        output = run("prepare", "S", "--root", tmp_path / "d", "--download", "--source", server.url)
    assert "downloaded with the SHA-256" in output
    assert f"saved as {tmp_path}/d/S.graphs" in output.replace("\n", "")
    assert "downloaded" not in run("prepare", "S", "--root", tmp_path / "d")


def test_an_unknown_dataset_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match="did you mean"):
        run("info", "ENZYMS", "--root", tmp_path)


@needs_shared
def test_info_compares_with_published_statistics():
    assert "published                matches" in run("info", "ENZYMES", "--root", SHARED)


def test_markup_in_names_is_shown_literally(tmp_path):
    (tmp_path / "[bold].jsonl").write_text('{"nodes": 1, "label": "[/x] :smile:"}')
    output = run("info", tmp_path / "[bold].jsonl")
    assert "1 ([/x] :smile:: 1)" in output
    assert "name                     [bold]" in output
    assert "[/c]" in run("list", "--root", tmp_path / "[/c]").replace("\n", "")


def test_markup_in_the_name_of_a_dataset_is_not_interpreted(tmp_path):
    name = "[bold]{y}"
    files = {key.replace("S_", f"{name}_"): content for key, content in FILES.items()}
    with serving(write_zip(tmp_path / "packed.zip", files).read_bytes()) as server:
        root = tmp_path / "d"
        output = run("prepare", name, "--root", root, "--download", "--source", server.url)
    assert name in output


def test_prepare_warns_of_other_statistics_than_published(tmp_path):
    files = {key.replace("S_", "MUTAG_"): content for key, content in FILES.items()}
    write_folder(tmp_path / "MUTAG", files)
    arguments = ["data", "prepare", "MUTAG", "--root", str(tmp_path)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: MUTAG is not as published (graphs: 3, published 188")
    assert (tmp_path / "MUTAG.graphs").is_dir()


MAIN = "from lfds.cli import main; main()"


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
def test_characters_that_the_terminal_cannot_show_are_escaped(encoding, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"nodes": 2, "label": "\u4e2d"}', encoding="utf-8")
    shown = subprocess.run(
        [sys.executable, "-c", MAIN, "data", "info", str(tmp_path / "a.jsonl")],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    )
    output = shown.stdout.decode(encoding)
    assert ("\u4e2d: 1" in output and "\u2588" in output) == (encoding == "utf-8")
    assert ("\\u4e2d: 1" in output and "@" in output) == (encoding != "utf-8")


def test_info_has_options_for_csv_files(tmp_path):
    pytest.importorskip("rdkit", reason="rdkit comes with the extra `chem`")
    (tmp_path / "several.csv").write_text("smiles,a,b\nC,1,x\nbad,0,y\nCC,0,y\n")
    output = run("info", tmp_path / "several.csv", "--target", "b", "--skip-bad")
    assert "2 (x: 1, y: 1)" in output
    assert "bad smiles skipped       1" in output
    assert "without target skipped   0" in output
    for flags in (["--target", "a", "b"], ["--target", "a", "--target", "b"]):
        (tmp_path / "two.csv").write_text("smiles,a,b\nC,1,0\nCC,0,1\nCCC,,1\n")
        assert "2 (0, 1) of each of 2 targets" in run("info", tmp_path / "two.csv", *flags)
        run("convert", tmp_path / "two.csv", tmp_path / "set", *flags)
        assert GraphSet.load(tmp_path / "set").target_names == ("a", "b")
    assert "classes" in run("info", "--target", "b", tmp_path / "two.csv")
    with pytest.raises(DataError, match="line 3: invalid SMILES 'bad'"):
        run("info", tmp_path / "several.csv", "--target", "b")
    (tmp_path / "a.jsonl").write_text('{"nodes": 2}')
    with pytest.raises(DataError, match=r"--target: only \.csv or \.tsv files have this option"):
        run("info", tmp_path / "a.jsonl", "--target", "b")
    with pytest.raises(DataError, match=r"--skip-bad: only \.csv or \.tsv files have this option"):
        run("info", tmp_path / "a.jsonl", "--skip-bad")


def test_info_counts_the_classes_of_several_targets(tmp_path):
    pytest.importorskip("rdkit", reason="rdkit comes with the extra `chem`")
    (tmp_path / "several.csv").write_text("smiles,a,b\nC,1,0\nCC,0,\nCCC,0,\nCCCC,1,1\n")
    targets = ["--target", "a", "--target", "b"]
    output = run("info", tmp_path / "several.csv", *targets)
    run("convert", tmp_path / "several.csv", tmp_path / "saved", *targets)
    run("convert", tmp_path / "several.csv", tmp_path / "parts", "--shards", *targets)
    for shown in (output, run("info", tmp_path / "saved"), run("info", tmp_path / "parts")):
        assert "2 (0, 1) of each of 2 targets" in shown
        assert "a (0: 2, 1: 2), 0 missing" in shown
        assert "b (0: 1, 1: 1), 2 missing" in shown
