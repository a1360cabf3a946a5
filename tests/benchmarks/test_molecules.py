import pytest
from benchmarks.molecules import (
    SEVERAL,
    SPLITS,
    Row,
    append,
    lfds_model,
    markdown,
    members_markdown,
    read,
    score,
    stored,
)

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


def test_the_gain_of_members_needs_both_rows():
    one = [Row("esol", split, "lfds", 0.5, 2.0, 0.25) for split in SPLITS]
    five = [Row("esol", split, SEVERAL, 0.25, 10.0, 1.25) for split in SPLITS]
    assert members_markdown(one + five).splitlines()[2:] == [
        "| esol | 1 | 0.500 | 0.500 | 0.500 | 0.500 | 2 | 0.25 |",
        "| esol | 5 | 0.250 | 0.250 | 0.250 | 0.250 | 10 | 1.25 |",
    ]
    for incomplete in (one, five, one + five[1:]):
        assert members_markdown(incomplete).startswith("No model")


@pytest.mark.slow
def test_a_model_is_measured_on_the_test_part(tmp_path):
    rows = "\n".join(f"{'C' * k}O,{k}.5" for k in range(1, 40))
    (tmp_path / "esol.csv").write_text(f"smiles,logSolubility\n{rows}\n")
    task = read(tmp_path, "esol", "random 0")
    found, fit, predict = lfds_model(task)
    assert found.shape == (len(task.parts.test), 1)
    assert score(task, found) < 30
    assert fit > predict > 0
