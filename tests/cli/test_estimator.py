import json
import sys
from pathlib import Path

import numpy as np
import pytest

import lfds as library
from lfds.cli import main
from tests.estimator.small import classifier, graphs

FAST = ["--slots", "4", "--epochs", "2", "--option", "width=8", "head_width=8"]
SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def lfds(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["lfds", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, *capsys.readouterr()

    return run


def lines(count=20, label="label"):
    for k in range(count):
        ring = k % 2
        edges = [[0, 1], [1, 2], [2, 0]] if ring else [[0, 1], [1, 2]]
        told = {"labels": [1, 2 + ring, 1], "edges": edges}
        yield json.dumps({**told, label: "ring" if ring else "path"} if label else told)


def saved(path, kind):
    """Write the same few graphs as each source of the data part."""
    if kind == "jsonl":
        (path / "data.jsonl").write_text("\n".join(lines()))
        return "data.jsonl"
    if kind == "csv":
        pytest.importorskip("rdkit")
        rows = "\n".join(f"{'C' * (k + 1)}{'O' if k % 2 else ''},{k % 2}" for k in range(20))
        (path / "data.csv").write_text(f"smiles,alcohol\n{rows}\n")
        return "data.csv"
    if kind == "clouds":
        for k in range(20):
            folder = path / "clouds" / ("ball", "disc")[k % 2]
            folder.mkdir(parents=True, exist_ok=True)
            points = np.random.default_rng(k).normal(size=(160, 3)) * (1, 1, (k + 1) % 2)
            np.savetxt(folder / f"{k}.xyz", points)
        return "clouds"
    if kind == "tu":
        graphs().to_tu(path / "drawn")
        return "drawn"
    graphs().save(path / "set")
    return "set"


@pytest.mark.parametrize("kind", ["jsonl", "csv", "clouds", "tu", "set"])
def test_from_every_source_to_predictions_and_metrics(kind, lfds, tmp_path):
    data = saved(tmp_path, kind)
    code, out, err = lfds("fit", data, "-o", "model", *FAST)
    assert (code, err) == (0, "")
    assert "saved as model" in out
    code, out, err = lfds("predict", "model", data, "-o", "out.csv")
    assert (code, out) == (0, "")
    rows = (tmp_path / "out.csv").read_text().splitlines()
    assert len(rows) == 1 + (24 if kind in ("tu", "set") else 20)
    assert f"predictions for {len(rows) - 1} graphs in out.csv" in err
    code, out, _ = lfds("evaluate", "model", data, "--json")
    assert code == 0
    assert json.loads(out)["graphs"] == len(rows) - 1


def test_amounts_are_regressed(lfds, tmp_path):
    rows = "\n".join(f"{'C' * (k + 1)},{k}.5" for k in range(12))
    pytest.importorskip("rdkit")
    (tmp_path / "data.csv").write_text(f"smiles,boils\n{rows}\n")
    code, out, _ = lfds("fit", "data.csv", "-o", "model", *FAST)
    assert code == 0
    assert "with 1 target(s)" in out
    assert isinstance(library.load("model"), library.LFDSRegressor)
    code, out, _ = lfds("predict", "model", "data.csv")
    assert out.splitlines()[0] == "line,amount"
    code, out, _ = lfds("evaluate", "model", "data.csv")
    assert "rmse" in out
    code, _, err = lfds("fit", "data.csv", "-o", "other", "--balanced", *FAST)
    assert code == 2
    assert "only classes are balanced" in err


def test_options_reach_the_estimator(lfds, tmp_path):
    data = saved(tmp_path, "jsonl")
    told = ["--structure", "array", "--balanced", "--patience", "1", "--seed", "3"]
    more = ["--encoding", "rwse", "degree", "--validation", "0.3", "--reduction", "sum"]
    assert lfds("fit", data, "-o", "model", *FAST, *told, *more)[0] == 0
    made = library.load("model").get_params()
    for name, value in {
        "structure": "array", "slots": 4, "class_weight": "balanced", "patience": 1, "seed": 3,
        "encoding": ["rwse", "degree"], "validation": 0.3, "reduction": "sum",
        "options": {"width": 8, "head_width": 8}, "progress": False,
    }.items():  # fmt: skip
        assert made[name] == value


def test_unseen_labels_are_one_line_for_a_whole_stream(lfds, tmp_path, monkeypatch):
    monkeypatch.setattr("lfds.data.streams.CHUNK_SIZE", 4)
    classifier().save("model")
    rows = [json.dumps({"labels": [99], "features": [[0.5]]}) for _ in range(12)]
    (tmp_path / "new.jsonl").write_text("\n".join(rows))
    code, out, err = lfds("predict", "model", "new.jsonl")
    assert code == 0
    assert len(out.splitlines()) == 13
    assert err.count("warning") == 1
    assert "never seen in training" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "nowhere.jsonl", "-o", "m"], "nowhere.jsonl"),
        (["fit", "data.jsonl", "-o", "m", "--structure", "lop"], "did you mean 'loop'"),
        (["fit", "data.jsonl", "-o", "m", "--epochs", "0"], "epochs"),
        (["fit", "data.jsonl", "-o", "m", "--option", "wide=3"], "no option is called 'wide'"),
        (["fit", "data.jsonl", "-o", "m", "--option", "width=10000000"], "choose a smaller one"),
        (["fit", "data.jsonl", "-o", "notes"], "holds other files, such as 'mine.txt'"),
        (["fit", "one.jsonl", "-o", "m"], "all 2 graphs are of class 'a'"),
        (["predict", "nowhere", "data.jsonl"], "is no model"),
        (["predict", "model", "bad.jsonl", "-o", "out.csv"], "bad.jsonl, line 2"),
        (["predict", "model", "other.jsonl", "-o", "out.csv"], "node labels: the model was"),
        (["predict", "cut", "data.jsonl", "-o", "out.csv"], "is not what was saved"),
        (["evaluate", "model", "strange.jsonl"], "label 'star' is none of the classes"),
        (["export", "nowhere", "--onnx", "m.onnx"], "is no model"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(arguments, message, lfds, tmp_path):
    saved(tmp_path, "jsonl")
    assert lfds("fit", "data.jsonl", "-o", "model", *FAST)[0] == 0
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    (tmp_path / "one.jsonl").write_text('{"nodes": 1, "label": "a"}\n' * 2)
    (tmp_path / "bad.jsonl").write_text('{"labels": [1]}\n{"labels": [1], "edges": [[0, 5]]}\n')
    (tmp_path / "other.jsonl").write_text('{"nodes": 1}\n')
    (tmp_path / "strange.jsonl").write_text('{"labels": [1], "label": "star"}\n' * 2)
    library.load("model").save("cut")
    (tmp_path / "cut" / "weights.safetensors").write_bytes(b"")
    before = sorted(path.name for path in tmp_path.iterdir())
    code, out, err = lfds(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("lfds: ")
    assert len(err.splitlines()) == 1
    assert message in err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "model", "data.jsonl", "-o", "data.jsonl"],
        ["predict", "model", "data.jsonl", "-o", "model/model.json"],
        ["predict", "model", "tu", "-o", "tu/tu_A.txt"],
        ["predict", "model", "NAMED", "--root", ".", "-o", "NAMED/NAMED_A.txt"],
        ["export", "model", "--onnx", "model/weights.safetensors"],
        ["export", "model", "--onnx", "data.jsonl", "--check", "data.jsonl"],
        ["explain", "model", "data.jsonl", "-o", "data.jsonl"],
        ["explain", "model", "data.jsonl", "-o", "model/atlas.html"],
        ["explain", "model", "data.jsonl", "-o", "a.html", "--figures", "model"],
    ],
)
def test_no_command_writes_over_what_it_reads(arguments, lfds, tmp_path, monkeypatch):
    saved(tmp_path, "jsonl")
    classifier().save("model")
    for folder in ("tu", "NAMED"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{folder}_A.txt").write_text("1, 2")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    monkeypatch.setattr("lfds.estimator.loading.load_model", lambda _: pytest.fail("too late"))
    code, out, err = lfds(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "is read" in err or "is a file of" in err or "in the model folder" in err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_an_interrupted_fit_writes_nothing(lfds, tmp_path, monkeypatch):
    saved(tmp_path, "jsonl")

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("lfds.estimator.base.learn", stop)
    code, _, err = lfds("fit", "data.jsonl", "-o", "model", *FAST)
    assert code == 130
    assert err == "lfds: stopped; nothing was written\n"
    assert not (tmp_path / "model").exists()


@pytest.mark.plain
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_model_is_exported_and_compared(lfds, tmp_path):
    pytest.importorskip("onnxruntime")
    data = saved(tmp_path, "jsonl")
    assert lfds("fit", data, "-o", "model", *FAST)[0] == 0
    code, out, err = lfds("export", "model", "--onnx", "model.onnx", "--check", data)
    assert (code, err) == (0, "")
    assert "saved as model.onnx" in out
    largest = float(out.split("differs by ")[1].split()[0])
    assert largest < 1e-4


def test_an_export_is_checked_on_what_predict_reads(lfds, tmp_path, monkeypatch):
    """Columns to predict are none of its business, and a bad line may be left out."""
    data = saved(tmp_path, "csv")
    assert lfds("fit", data, "-o", "model", *FAST)[0] == 0
    (tmp_path / "many.csv").write_text("smiles,a,b\nCC,1,2\nnonsense,1,2\nCCO,1,2\n")
    monkeypatch.setattr("lfds.estimator.onnx_file.export_onnx", lambda *_: None)
    monkeypatch.setattr("lfds.estimator.onnx_file.check_onnx", lambda *_: 0.5)
    told = ("export", "model", "--onnx", "m.onnx", "--check", "many.csv")
    code, out, _ = lfds(*told, "--skip-bad")
    assert code == 0
    assert "differs by 5.0e-01 at most on 2 graphs of many.csv" in out
    code, out, err = lfds(*told)
    assert (code, out) == (2, "")
    assert "many.csv, line 3" in err


@pytest.mark.skipif(not (SHARED / "MUTAG").exists(), reason="no shared data here")
def test_a_published_dataset_by_name(lfds, tmp_path):
    told = ("--root", SHARED)
    assert lfds("fit", "MUTAG", "-o", "model", *told, *FAST)[0] == 0
    code, out, _ = lfds("predict", "model", "MUTAG", *told)
    assert code == 0
    assert len(out.splitlines()) == 189


def test_graphs_without_labels_are_predicted_and_not_judged(lfds, tmp_path):
    (tmp_path / "zeros.jsonl").write_text(
        "\n".join(line.replace('"path"', "0").replace('"ring"', "1") for line in lines())
    )
    (tmp_path / "bare.jsonl").write_text("\n".join(lines(label=None)))
    assert lfds("fit", "zeros.jsonl", "-o", "model", *FAST)[0] == 0
    assert lfds("predict", "model", "bare.jsonl")[0] == 0
    for arguments in (
        ("evaluate", "model", "bare.jsonl"),
        ("fit", "bare.jsonl", "-o", "new"),
        ("fit", "bare.jsonl", "-o", "new", "--balanced"),
        ("compare", "--data", "bare.jsonl", "--graphs", "4", "--out", "new"),
    ):
        code, out, err = lfds(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "the graphs carry no labels" in err
    assert not (tmp_path / "new").exists()
