import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from lfds.cli.app import app
from lfds.data import DataError
from tests.data.graphs import SHARED, needs_shared, three_graphs
from tests.data.server import serving
from tests.data.tu_folders import FILES, write_folder, write_zip


def run(*arguments):
    result = CliRunner().invoke(app, ["data", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_list_says_what_is_here(tmp_path):
    (tmp_path / "DD.zip").touch()
    lines = {line.split()[0]: line for line in run("list", "--root", tmp_path).splitlines() if line}
    assert "yes" in lines["DD"]
    assert "yes" not in lines["ENZYMES"]
    assert "built in" in lines["pc-graphs"]
    assert "284.32" in lines["DD"]


def test_info_tells_what_a_dataset_is_like(tmp_path):
    told = run("info", write_folder(tmp_path / "S", FILES))
    assert "2 (-1: 1, 1: 2)" in told
    assert "3, 1 without nodes" in told
    assert "6, 1 isolated" in told
    assert "4 undirected, 1 self loops" in told
    assert "no statistics to compare with" in told
    assert "duplicate edges removed  1" in told


def test_info_takes_saved_sets_and_names_under_the_root(tmp_path):
    three_graphs().save(tmp_path / "saved")
    assert "missing" in run("info", tmp_path / "saved")
    write_zip(tmp_path / "S.zip", FILES)
    assert "S" in run("info", "S", "--root", tmp_path)


def test_info_of_regression_and_of_one_way_edges(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"nodes": 2, "edges": [[0, 1]], "directed": true, "label": 1.5}'
    )
    told = run("info", tmp_path / "a.jsonl")
    assert "none: regression" in told
    assert "1 undirected, 1 in one direction only" in told


def test_prepare_fetches_checks_and_saves(tmp_path):
    with serving(write_zip(tmp_path / "packed.zip", FILES).read_bytes()) as server:
        told = run("prepare", "S", "--root", tmp_path / "d", "--download", "--source", server.url)
    assert "downloaded with the SHA-256" in told
    assert f"saved as {tmp_path}/d/S.graphs" in told.replace("\n", "")
    assert "downloaded" not in run("prepare", "S", "--root", tmp_path / "d")


def test_errors_are_left_to_the_command(tmp_path):
    with pytest.raises(DataError, match="did you mean"):
        run("info", "ENZYMS", "--root", tmp_path)


@needs_shared
def test_real_datasets_match_what_was_published():
    assert "published                matches" in run("info", "ENZYMES", "--root", SHARED)


def test_words_of_a_dataset_are_shown_as_they_are(tmp_path):
    (tmp_path / "[bold].jsonl").write_text('{"nodes": 1, "label": "[/x] :smile:"}')
    told = run("info", tmp_path / "[bold].jsonl")
    assert "1 ([/x] :smile:: 1)" in told
    assert "name                     [bold]" in told
    assert "[/c]" in run("list", "--root", tmp_path / "[/c]").replace("\n", "")


def test_a_name_with_marks_of_its_own_is_prepared(tmp_path):
    name = "[bold]{y}"
    files = {key.replace("S_", f"{name}_"): content for key, content in FILES.items()}
    with serving(write_zip(tmp_path / "packed.zip", files).read_bytes()) as server:
        root = tmp_path / "d"
        told = run("prepare", name, "--root", root, "--download", "--source", server.url)
    assert name in told


def test_prepare_warns_of_what_is_not_as_published(tmp_path):
    files = {key.replace("S_", "MUTAG_"): content for key, content in FILES.items()}
    write_folder(tmp_path / "MUTAG", files)
    arguments = ["data", "prepare", "MUTAG", "--root", str(tmp_path)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: MUTAG is not as published (graphs: 3, published 188")
    assert (tmp_path / "MUTAG.graphs").is_dir()


MAIN = "from lfds.cli import main; main()"


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
def test_a_terminal_with_few_letters_is_no_traceback(encoding, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"nodes": 2, "label": "\u4e2d"}', encoding="utf-8")
    shown = subprocess.run(
        [sys.executable, "-c", MAIN, "data", "info", str(tmp_path / "a.jsonl")],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    )
    told = shown.stdout.decode(encoding)
    assert ("\u4e2d: 1" in told and "\u2588" in told) == (encoding == "utf-8")
    assert ("\\u4e2d: 1" in told and "@" in told) == (encoding != "utf-8")


def test_info_of_a_csv_takes_a_target_and_skips_what_is_bad(tmp_path):
    pytest.importorskip("rdkit", reason="rdkit comes with the extra `chem`")
    (tmp_path / "several.csv").write_text("smiles,a,b\nC,1,x\nbad,0,y\nCC,0,y\n")
    told = run("info", tmp_path / "several.csv", "--target", "b", "--skip-bad")
    assert "2 (x: 1, y: 1)" in told
    assert "bad smiles skipped       1" in told
    with pytest.raises(DataError, match="line 3: invalid SMILES 'bad'"):
        run("info", tmp_path / "several.csv", "--target", "b")
    (tmp_path / "a.jsonl").write_text('{"nodes": 2}')
    with pytest.raises(DataError, match=r"--target: only \.csv files have this option"):
        run("info", tmp_path / "a.jsonl", "--target", "b")
    with pytest.raises(DataError, match=r"--skip-bad: only \.csv files have this option"):
        run("info", tmp_path / "a.jsonl", "--skip-bad")
