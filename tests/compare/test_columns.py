"""Columns of files with molecules in a comparison: which one is predicted, and invalid rows."""

import pytest

from lfds.compare.datasets import load_datasets
from lfds.config.comparison import make_spec
from lfds.config.messages import SpecError
from lfds.data.errors import DataError
from lfds.data.readers.smiles import SkippedRowsWarning

pytest.importorskip("rdkit")

ROWS = [
    f"{'C' * n}{end}"
    for n in (1, 2, 3)
    for end in ("O,1,0", "N,0,0", "S,,1", "(C)(C)(C)(C)C,1,1", "F,0,1", "Cl,1,0")
]


@pytest.fixture
def molecules(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("smiles,a,b\n" + "\n".join(ROWS) + "\n")
    return path


def load(folder, *data, **options):
    return load_datasets(make_spec({"data": list(map(str, data)), "folds": 2, **options}), folder)


def test_the_target_is_chosen_and_bad_rows_are_skipped(molecules, tmp_path):
    with pytest.warns(SkippedRowsWarning, match="skipped 6 rows"):
        (by_a,) = load(tmp_path, molecules, target="a", skip_bad=True)
    with pytest.warns(SkippedRowsWarning, match="skipped 3 rows"):
        (by_b,) = load(tmp_path, molecules, target="b", skip_bad=True)
    assert by_a.y.tolist() == [1, 0, 0, 1] * 3
    assert by_b.y.tolist() == [0, 0, 1, 1, 0] * 3


def test_molecules_are_read_as_the_spec_says(tmp_path):
    rows = "\n".join(f"{'C' * (k + 1)}O.Cl,{k % 13}" for k in range(39))
    (tmp_path / "m.csv").write_text(f"drug,y\n{rows}\n")
    path = tmp_path / "m.csv"
    named = {"smiles_column": "drug", "task": "classification"}
    with pytest.raises(SpecError, match="the targets are no classes"):
        load(tmp_path, path, smiles_column="drug")
    (salts,) = load(tmp_path, path, **named)
    (parts,) = load(tmp_path, path, **named, largest_fragment=True, atom_features="basic")
    assert salts.num_nodes == parts.num_nodes + 39
    assert salts.num_classes == parts.num_classes == 13
    assert salts.width("labels") > parts.width("labels")


def test_other_data_has_no_columns_of_smiles(tmp_path):
    (tmp_path / "g.jsonl").write_text('{"nodes": 1, "label": "a"}\n{"nodes": 1, "label": "b"}\n')
    given = {"smiles_column": "x", "largest_fragment": True, "atom_features": "basic"}
    for name, value in given.items():
        with pytest.raises(SpecError, match=rf"^{name}: only \.csv or \.tsv files have"):
            load(tmp_path, tmp_path / "g.jsonl", **{name: value})


def test_several_columns_need_a_target(molecules, tmp_path):
    with pytest.raises(DataError, match=r"several columns to predict.*target=NAME"):
        load(tmp_path, molecules)


def test_bad_rows_are_errors_by_default(molecules, tmp_path):
    with pytest.raises(DataError, match="bad='skip'"):
        load(tmp_path, molecules, target="b")


def test_other_datasets_are_read_as_they_are(molecules, tmp_path):
    lines = [f'{{"nodes": 1, "label": "{"ab"[k % 2]}"}}' for k in range(12)]
    (tmp_path / "g.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.warns(SkippedRowsWarning):
        both = load(tmp_path, molecules, tmp_path / "g.jsonl", target="b", skip_bad=True)
    assert [len(graphs) for graphs in both] == [15, 12]
    with pytest.raises(SpecError, match=r"^target: only \.csv or \.tsv files have this option"):
        load(tmp_path, tmp_path / "g.jsonl", target="b")
