"""The command trains what is missing, packs it, and writes the tables."""

import json

import pytest
from benchmarks.tables.__main__ import main, packed_records
from benchmarks.tables.manifest import read_manifest

from tests.benchmarks.runs import PAGE

SMALL = """
[budgets.small]
parts-share-set = { epochs = 1, folds = 2, graphs = 24 }

[tables.main]
budget = "small"
baseline = "max"
seeds = 2
[tables.main.summary]
rows = ["mean"]
datasets = ["parts-share-set"]
[tables.main.rows]
"max" = {}
"mean" = {}

[tables.shorter]
budget = "small"
epochs = 2
[tables.shorter.rows]
"max" = {}

[tables.reproduction]
budget = "small"
protocol = "paper"
[tables.reproduction.rows]
"max" = {}

[tables.ablations]
budget = "small"
[tables.ablations.rows]
"max" = { measure = "validation" }

[tables.selection]
budget = "small"
[tables.selection.rows]
"max" = { measure = "validation" }
"""


@pytest.fixture
def command(tmp_path):
    manifest = tmp_path / "manifest.toml"
    manifest.write_text(SMALL)
    own = ["--manifest", str(manifest), "--results", str(tmp_path / "results")]
    out = ["--out", str(tmp_path / "run")]
    return lambda *given: main([*own, *given, *(out if given[0] == "run" else [])])


def packed(folder):
    records = packed_records(read_manifest(folder / "manifest.toml"), folder / "results")
    return [(record.fold.pool, record.fold.seed, record.fold.fold) for record in records]


def test_what_is_missing_is_trained_and_what_is_there_is_kept(command, tmp_path, capsys):
    assert command("run", "main", "--rows", "mean", "--seeds", "1") == 0
    first = [("mean", 0, 0), ("mean", 0, 1)]
    assert packed(tmp_path) == first
    (spec,) = json.loads((tmp_path / "results" / "main" / "specs.json").read_text())
    assert (spec["pools"], spec["seeds"], spec["epochs"]) == (["mean"], 2, 1)

    capsys.readouterr()
    assert command("run", "main", "--dry-run") == 0
    assert capsys.readouterr().out.splitlines() == [
        "max on parts-share-set: 0 of 4 folds",
        "mean on parts-share-set: 2 of 4 folds",
    ]

    # From a fresh clone, without the folder of the run.
    (tmp_path / "run" / "records.jsonl").unlink()
    assert command("run", "main", "--seeds", "1") == 0
    assert "2 of 4 folds are already stored" in capsys.readouterr().err
    assert packed(tmp_path) == [*first, ("max", 0, 0), ("max", 0, 1)]

    page = tmp_path / "page.md"
    page.write_text(PAGE)
    readme = tmp_path / "README.md"
    readme.write_text("<!-- main: begin -->\n<!-- main: end -->\n")
    assert command("write", "--page", str(page), "--readme", str(readme)) == 0
    assert "parts-share-set" in readme.read_text()
    assert "| `mean` | " in page.read_text()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["run", "mian"], "TABLE: unknown name 'mian'; did you mean 'main'?"),
        (["run", "main", "--rows", "maxx"], "--rows: unknown name 'maxx'; did you mean 'max'?"),
        (["run", "main", "--datasets", "DD"], "--datasets: unknown name 'DD'; choose from parts"),
    ],
)
def test_unknown_names_are_refused_before_anything_is_run(
    command, tmp_path, capsys, given, message
):
    with pytest.raises(SystemExit):
        command(*given)
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_records_that_cannot_be_read_are_one_line(command, tmp_path, capsys):
    folder = tmp_path / "results" / "main"
    folder.mkdir(parents=True)
    (folder / "records.jsonl.gz").write_bytes(b"no gzip")
    assert command("run", "main", "--dry-run") == 2
    error = capsys.readouterr().err
    assert error.startswith("tables: ")
    assert len(error.splitlines()) == 1
