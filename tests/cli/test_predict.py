import json

from tests.estimator.small import classifier


def test_unseen_labels_are_one_line_for_all_batches(lfds, tmp_path, monkeypatch):
    monkeypatch.setattr("lfds.data.streams._GRAPHS_OF_A_PIECE", 4)
    classifier().save("model")
    rows = [json.dumps({"labels": [99], "features": [[0.5]]}) for _ in range(12)]
    (tmp_path / "new.jsonl").write_text("\n".join(rows))
    code, out, err = lfds("predict", "model", "new.jsonl")
    assert code == 0
    assert len(out.splitlines()) == 13
    assert err.count("warning") == 1
    assert "never seen in training" in err
