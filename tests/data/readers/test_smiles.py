import sys

import pytest

from lfds.data import DataError
from lfds.data.readers.smiles import read_smiles

pytest.importorskip("rdkit", reason="rdkit comes with the extra `chem`")


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("values", "classes", "kind"),
    [("1 0", (0, 1), "int64"), ("1.5 2", (), "float32"), ("yes no", ("no", "yes"), "int64")],
)
def test_targets_are_classes_or_quantities(values, classes, kind, tmp_path):
    one, two = values.split()
    graphs = read_smiles(write(tmp_path / "m.csv", f"y,SMILES\n{one},C\n{two},CC\n"))
    assert graphs.classes == classes
    assert str(graphs.y.dtype).endswith(kind)


def test_without_a_target_there_is_none(tmp_path):
    assert not read_smiles(write(tmp_path / "m.csv", "smiles\nC\nCC\n")).has_targets


def test_columns_are_chosen_by_name(tmp_path):
    path = write(tmp_path / "m.csv", "id,mol,a,b\n1,C,3,x\n2,CC,4,y\n")
    assert read_smiles(path, smiles="mol", target="b").classes == ("x", "y")


def test_a_bad_smiles_is_named_by_line_or_skipped_if_asked(tmp_path, capfd):
    path = write(tmp_path / "m.csv", "smiles,y\nC,1\nnot a molecule,0\n,1\nC(C,0\nCC,0\n")
    with pytest.raises(DataError, match="line 3: 'not a molecule' is no valid SMILES"):
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
        ("smiles,a,b\nC,1,2\n", "several columns to predict: 'a, b'; name one"),
        ("smiles,y\nC\n", "line 2: has 1 cells under a header of 2"),
        ("smiles,y\nC,\n", "line 2: lacks a value for 'y'"),
        ("smiles,y\n", "holds no molecule"),
        ('smiles,y\n"C,1\n', "cannot be read as CSV"),
        ("smiles,y\nC,inf\nC,2\n", "finite"),
        ("smiles,y\nC,0.5\nCC,-1.25\nCCC,NA\n", r"m\.csv, line 4: 'NA' is no number"),
    ],
)
def test_what_is_wrong_is_named(text, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_smiles(write(tmp_path / "m.csv", text))


def test_an_unknown_target_is_refused(tmp_path):
    with pytest.raises(DataError, match="has no column 'z'"):
        read_smiles(write(tmp_path / "m.csv", "smiles,y\nC,1\n"), target="z")


def test_binary_junk_and_missing_files_are_refused(tmp_path):
    (tmp_path / "m.csv").write_bytes(b"\xff\xfe\x00smiles")
    with pytest.raises(DataError, match="cannot be read as CSV in UTF-8"):
        read_smiles(tmp_path / "m.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_smiles(tmp_path / "nowhere.csv")


def test_without_rdkit_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(DataError, match=r"pip install 'lfds\[chem\]'"):
        read_smiles(write(tmp_path / "m.csv", "smiles,y\nC,1\n"))
