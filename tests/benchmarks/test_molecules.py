import pytest
from benchmarks.molecules import SPLITS, Row, append, lfds_model, markdown, read, score, stored

pytest.importorskip("rdkit")


def test_rows_are_appended_and_read_again(tmp_path):
    rows = [Row("esol", split, "lfds", 0.5 + k / 8, 2.0, 0.25) for k, split in enumerate(SPLITS)]
    for row in rows:
        append(row, tmp_path / "rows.csv")
    assert stored(tmp_path / "rows.csv") == rows


def test_only_complete_models_are_in_the_table():
    rows = [Row("esol", split, "lfds", 0.5, 2.0, 0.25) for split in SPLITS]
    rows += [Row("esol", split, "forest", 0.5, 2.0, 0.25) for split in SPLITS[:3]]
    assert markdown(rows).splitlines()[2:] == ["| esol | lfds | 0.500 ± 0.000 | 0.500 | 2 | 0.2 |"]
    assert markdown(rows[1:]) == "No model has been measured on all splits of a set yet."


@pytest.mark.slow
def test_a_model_is_measured_on_the_test_part(tmp_path):
    rows = "\n".join(f"{'C' * k}O,{k}.5" for k in range(1, 40))
    (tmp_path / "esol.csv").write_text(f"smiles,logSolubility\n{rows}\n")
    task = read(tmp_path, "esol", "random 0")
    found, fit, predict = lfds_model(task)
    assert found.shape == (len(task.parts.test), 1)
    assert score(task, found) < 30
    assert fit > predict > 0
