import pytest

from tests.cli.sources import FAST, write_source


@pytest.mark.plain
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_model_is_exported_and_compared(lfds, tmp_path):
    pytest.importorskip("onnxruntime")
    data = write_source(tmp_path, "jsonl")
    assert lfds("fit", data, "-o", "model", *FAST)[0] == 0
    code, out, err = lfds("export", "model", "--onnx", "model.onnx", "--check", data)
    assert (code, err) == (0, "")
    assert "saved as model.onnx" in out
    largest = float(out.split("differs by ")[1].split()[0])
    assert largest < 1e-4


def test_an_export_is_checked_on_what_predict_reads(lfds, tmp_path, monkeypatch):
    """Target columns are ignored, and invalid lines may be skipped."""
    data = write_source(tmp_path, "csv")
    assert lfds("fit", data, "-o", "model", *FAST)[0] == 0
    (tmp_path / "many.csv").write_text("smiles,a,b\nCC,1,2\nnonsense,1,2\nCCO,1,2\n")
    monkeypatch.setattr("lfds.estimator.onnx.export_onnx", lambda *_: None)
    monkeypatch.setattr("lfds.estimator.onnx.check_onnx", lambda *_: 0.5)
    command = ("export", "model", "--onnx", "m.onnx", "--check", "many.csv")
    code, out, _ = lfds(*command, "--skip-bad")
    assert code == 0
    assert "differs by 5.0e-01 at most on 2 graphs of many.csv" in out
    code, out, err = lfds(*command)
    assert (code, out) == (2, "")
    assert "many.csv, line 3" in err
