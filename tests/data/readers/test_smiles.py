import sys

import pytest

from lfds.data import DataError
from lfds.data.readers.smiles import (
    ATOM_ATTRIBUTES,
    ATOM_LABELS,
    BOND_ATTRIBUTES,
    BOND_LABELS,
    graphs_of_molecules,
    molecule_from,
    read_smiles,
)

pytest.importorskip("rdkit", reason="rdkit comes with the extra `chem`")


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("values", "classes", "kind"),
    [("1 0", (0, 1), "int64"), ("1.5 2", (), "float32"), ("yes no", ("no", "yes"), "int64")],
)
def test_targets_are_classes_or_regression_targets(values, classes, kind, tmp_path):
    one, two = values.split()
    graphs = read_smiles(write(tmp_path / "m.csv", f"y,SMILES\n{one},C\n{two},CC\n"))
    assert graphs.classes == classes
    assert str(graphs.y.dtype).endswith(kind)


def test_a_csv_without_target_column_has_no_targets(tmp_path):
    assert not read_smiles(write(tmp_path / "m.csv", "smiles\nC\nCC\n")).has_targets


def test_columns_are_chosen_by_name(tmp_path):
    path = write(tmp_path / "m.csv", "id,mol,a,b\n1,C,3,x\n2,CC,4,y\n")
    assert read_smiles(path, smiles="mol", target="b").classes == ("x", "y")


def test_an_invalid_smiles_is_named_by_line_or_skipped(tmp_path, capfd):
    path = write(tmp_path / "m.csv", "smiles,y\nC,1\nnot a molecule,0\n,1\nC(C,0\nCC,0\n")
    with pytest.raises(DataError, match="line 3: invalid SMILES 'not a molecule'; correct it"):
        read_smiles(path)
    graphs = read_smiles(path, bad="skip")
    assert len(graphs) == 2
    assert graphs.provenance["bad_smiles_skipped"] == 3
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: needs a column 'smiles'"),
        ("a,b\nC,1\n", "needs a column 'smiles' in its header, which has 'a, b'"),
        ("smiles,a,b\nC,1,2\n", "several columns to predict: 'a, b'; choose one"),
        ("smiles,y\nC\n", "line 2: has 1 cells, but the header has 2"),
        ("smiles,y\nC,\n", "line 2: lacks a value for 'y'"),
        ("smiles,y\n", "has no molecules"),
        ('smiles,y\n"C,1\n', "cannot be read as CSV"),
        ("smiles,y\nC,inf\nC,2\n", "finite"),
        ("smiles,y\nC,0.5\nCC,-1.25\nCCC,NA\n", r"m\.csv, line 4: 'NA' is no number"),
    ],
)
def test_invalid_input_is_named(text, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_smiles(write(tmp_path / "m.csv", text))


def test_an_unknown_target_column_is_an_error(tmp_path):
    with pytest.raises(DataError, match="has no column 'z'"):
        read_smiles(write(tmp_path / "m.csv", "smiles,y\nC,1\n"), target="z")


def test_binary_and_missing_files_are_errors(tmp_path):
    (tmp_path / "m.csv").write_bytes(b"\xff\xfe\x00smiles")
    with pytest.raises(DataError, match="cannot be read as CSV in UTF-8"):
        read_smiles(tmp_path / "m.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_smiles(tmp_path / "nowhere.csv")


def test_without_rdkit_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(DataError, match=r"pip install 'lfds\[chem\]'"):
        read_smiles(write(tmp_path / "m.csv", "smiles,y\nC,1\n"))


def molecules(*smiles):
    return graphs_of_molecules([molecule_from(text) for text in smiles], None, "mols")


def test_atoms_are_nodes_and_bonds_are_edges():
    graphs = molecules("CCO", "c1ccccc1", "[Na+].[Cl-]")
    assert graphs.name == "mols"
    assert graphs.sizes.tolist() == [3, 6, 2]
    assert graphs.num_edges == 2 * (2 + 6 + 0)
    assert graphs.labels[:3, 0].tolist() == [6, 6, 8]
    assert graphs.labels.shape[1] == len(ATOM_LABELS)
    assert graphs.attributes.shape[1] == len(ATOM_ATTRIBUTES)
    charge, hydrogens, _, aromatic, ring = graphs.attributes.T.tolist()
    assert hydrogens[:3] == [3, 2, 1]
    assert aromatic[3:9] == ring[3:9] == [1] * 6
    assert charge[-2:] == [1, -1]
    assert graphs.edge_labels.shape[1] == len(BOND_LABELS)
    assert graphs.edge_attributes.shape[1] == len(BOND_ATTRIBUTES)
    # Bonds of benzene are aromatic, conjugated and in a ring, in both directions.
    assert graphs.edge_labels[4:].unique().tolist() == [12]
    assert graphs.edge_attributes[4:].min() == 1


def test_a_single_atom_has_no_bonds():
    graphs = molecules("C")
    assert (graphs.num_nodes, graphs.num_edges) == (1, 0)
    assert graphs.edge_labels.shape == (0, 1)


@pytest.mark.parametrize("text", ["", "not a molecule", "C(C", "C1CC"])
def test_an_invalid_smiles_gives_none_and_no_output(text, capfd):
    assert molecule_from(text) is None
    assert capfd.readouterr().err == ""
