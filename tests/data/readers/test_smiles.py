import sys

import pytest

from lfds.data import DataError
from lfds.data.readers.smiles import (
    DuplicateMoleculesWarning,
    MissingGroupsWarning,
    SkippedRowsWarning,
    convert_smiles,
    read_smiles,
    read_smiles_rows,
    stream_smiles,
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
    with pytest.raises(DataError, match="line 3: invalid SMILES 'not a molecule': syntax error"):
        read_smiles(path)
    with pytest.warns(
        SkippedRowsWarning, match=r"skipped 3 rows: 3 with an .*; line 3 .*, line 5 .*'C\(C': ext"
    ):
        graphs = read_smiles(path, bad="skip")
    assert len(graphs) == 2
    assert graphs.provenance["bad_smiles_skipped"] == 3
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: needs a column 'smiles' in its header, which is empty"),
        ("a,b\nC,1\n", "needs a column 'smiles' in its header, which has 'a, b'"),
        ("smiles,a,b\nC,1,2\n", "several columns to predict: 'a, b'; choose one"),
        ("smiles,y\nC,1\nCC,\n", "line 3: lacks a value for 'y'; fill it in, or skip"),
        ("smiles,y\nC\n", "line 2: has 1 cells, but the header has 2"),
        ("smiles,y\nC,\nCC,\n", "column 'y' has no values; fill it in, or name another"),
        ("smiles,y\nC,1\nCC,high\n", "line 3: 'high' is no number, unlike '1' in line 2"),
        ("smiles,y\n", "has no molecules"),
        ('smiles,y\n"C,1\n', "cannot be read as CSV"),
        ("smiles,y\nC,inf\nCC,2\n", "finite"),
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


@pytest.mark.parametrize(
    ("values", "task", "classes"),
    [
        ("0.0 1.0 1.0", "auto", (0, 1)),
        ("0.0 1.0 2.0", "auto", ()),
        ("0.0 1.0 2.0", "classification", (0, 1, 2)),
        ("0 1 1", "regression", ()),
        (" ".join(map(str, range(12))), "auto", ()),
        (" ".join(map(str, range(12))), "classification", tuple(range(12))),
    ],
)
def test_the_task_decides_what_numbers_are(values, task, classes, tmp_path):
    rows = "".join(f"{'C' * k},{value}\n" for k, value in enumerate(values.split(), start=1))
    assert read_smiles(write(tmp_path / "m.csv", f"smiles,y\n{rows}"), task=task).classes == classes


@pytest.mark.parametrize(
    ("task", "value", "message"),
    [
        ("classification", "0.5", "line 3: a class needs a whole number"),
        ("regression", "high", "'high' is no number"),
        ("clasification", "1", "task: needs 'auto' or .*did you mean 'classification'"),
    ],
)
def test_targets_that_do_not_fit_the_task_are_named(task, value, message, tmp_path):
    with pytest.raises(DataError, match=message):
        read_smiles(write(tmp_path / "m.csv", f"smiles,y\nC,1\nCC,{value}\n"), task=task)


def test_a_column_of_exactly_the_name_comes_first(tmp_path):
    path = write(tmp_path / "m.csv", "smiles,y,Y\nC,a,c\nCC,b,d\n")
    assert read_smiles(path, target="Y").classes == ("c", "d")
    assert read_smiles(path, target="y").classes == ("a", "b")
    path = write(tmp_path / "m.csv", "smiles,Yy,YY\nC,a,c\nCC,b,d\n")
    with pytest.raises(DataError, match="line 1: has 2 columns for 'yy': 'Yy', 'YY'"):
        read_smiles(path, target="yy")


def test_the_column_with_smiles_is_no_target(tmp_path):
    path = write(tmp_path / "m.csv", "smiles,y\nC,1\nCC,2\n")
    with pytest.raises(DataError, match="'SMILES' is the column with SMILES and cannot be"):
        read_smiles(path, target="SMILES")
    with pytest.raises(DataError, match="'y' is named twice"):
        read_smiles(path, target=["y", "y"])


def test_rows_without_target_are_skipped_on_request(tmp_path):
    path = write(tmp_path / "m.csv", "smiles,y\nC,0.5\nCC,\nCCC,NA\nCCCC,1.5\n")
    with pytest.warns(
        SkippedRowsWarning, match=r"2 rows: 2 without a target; line 3 \(lacks a value for 'y'"
    ):
        graphs = read_smiles(path, bad="skip")
    assert graphs.y.tolist() == [0.5, 1.5]


def test_several_targets_with_the_same_two_classes(tmp_path):
    path = write(tmp_path / "m.csv", "smiles,a,b,c\nC,0,1,x\nCC,,0.0,y\nCCC,1,,z\n")
    graphs = read_smiles(path, target=["a", "b"])
    assert (graphs.classes, graphs.target_names) == ((0, 1), ("a", "b"))
    assert graphs.y.tolist() == [[0, 1], [-1, 0], [1, -1]]
    assert graphs.known_targets.tolist() == [[True, True], [False, True], [True, False]]


def test_rows_without_any_of_several_targets_are_reported(tmp_path):
    path = write(tmp_path / "m.csv", "smiles,a,b\nC,0,1\nCC,,\nCCC,1,\n")
    with pytest.warns(SkippedRowsWarning, match=r"1 row: .*; line 3 \(lacks a value for 'a, b'\)"):
        assert read_smiles(path, target=["a", "b"]).y.tolist() == [[0, 1], [1, -1]]


def test_several_targets_with_numbers(tmp_path):
    path = write(tmp_path / "m.csv", "smiles,a,b\nC,0,1.5\nCC,NA,2\nCCC,1,\n")
    graphs = read_smiles(path, target=["a", "b"], seed=None)
    assert graphs.classes == ()
    assert graphs.y.nan_to_num(-9).tolist() == [[0, 1.5], [-9, 2], [1, -9]]
    assert graphs.equals(read_smiles(path, target=["a", "b"], seed=None))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("C,0,1.5\nCC,1,2\n", "'b' has numbers and 'a' has names"),
        (
            "C,0,1\nCC,1,2\n",
            "need the same two classes, and 'b' has 1, 2 and those before it 0, 1; "
            "choose task='regression' for numbers, or fit it alone",
        ),
        (
            "C,0,no\nCC,1,yes\n",
            "need the same two classes, and 'b' has no, yes and those before it 0, 1; "
            "name them alike, or fit it alone",
        ),
        ("C,x,x\nCC,y,y\nCCC,z,x\n", "two classes, and 'a' has x, y, z; name them alike, or"),
        ("C,0,\nCC,1,\n", "column 'b' has no values"),
    ],
)
def test_targets_that_do_not_go_together_are_named(text, message, tmp_path):
    text = text.replace("C,0", "C,no").replace("C,1", "C,yes") if "names" in message else text
    path = write(tmp_path / "m.csv", f"smiles,a,b\n{text}")
    with pytest.raises(DataError, match=message):
        read_smiles(path, target=["a", "b"])


def test_molecules_that_occur_twice_are_reported(tmp_path):
    path = write(tmp_path / "m.csv", "smiles,y\nOCC,1\nC,0\nCCO,0\n")
    with pytest.warns(
        DuplicateMoleculesWarning, match="1 molecule occurs .*, with diff.*lines 2 and"
    ):
        assert len(read_smiles(path)) == 3


def test_the_largest_part_of_a_salt_on_request(tmp_path):
    path = write(tmp_path / "m.csv", "smiles\n[Na+].CC(=O)[O-]\nCl.CN\n")
    assert read_smiles(path).sizes.tolist() == [5, 3]
    assert read_smiles(path, fragments="largest").sizes.tolist() == [4, 2]


def test_groups_are_a_column_or_scaffolds(tmp_path):
    path = write(tmp_path / "m.csv", "smiles,y,lab\nC,0,b\nc1ccccc1C,1,a\nOc1ccccc1,0,b\n")
    assert read_smiles(path, target="y", group="lab").groups[:, 0].tolist() == [0, 1, 0]
    assert read_smiles(path, target="y", group="scaffold").groups[:, 0].tolist() == [0, 1, 1]
    with pytest.raises(DataError, match="has no column 'labs'; did you mean 'lab'"):
        read_smiles(path, target="y", group="labs")


def test_a_stream_has_texts_and_the_rows_that_were_skipped(tmp_path):
    path = write(tmp_path / "m.csv", "smiles\nC(C\nC\nCC\nCCC\nxx\n")
    first, last = stream_smiles(path, size=2, bad="skip")
    assert (first.texts, last.texts) == (("C", "CC"), ("CCC",))
    assert [row.position for row in first.skipped] == [2]
    assert [(row.position, row.text) for row in last.skipped] == [(6, "xx")]


def test_skipped_rows_are_counted_by_reason(tmp_path):
    """Rows without a target come first here, and do not hide the invalid SMILES."""
    path = write(tmp_path / "m.csv", "smiles,y\nC,\nCC,\nCCC,\nCO,\nxx,1\nCN,1\nCCO,0\n")
    counts = "skipped 5 rows: 1 with an invalid SMILES, 4 without a target; line 6 .*'xx'"
    with pytest.warns(SkippedRowsWarning, match=counts):
        graphs = read_smiles(path, bad="skip")
    assert graphs.provenance["bad_smiles_skipped"] == 1
    assert graphs.provenance["without_target_skipped"] == 4


def test_rows_are_read_with_their_lines(tmp_path):
    path = write(tmp_path / "m.csv", "smiles,y\nC,\nCC,1\nxx,1\nCN,1\nCCO,0\n")
    with pytest.warns(SkippedRowsWarning):
        chunk = read_smiles_rows(path, bad="skip")
    assert chunk.positions == [3, 5, 6]
    assert [(row.position, row.lacks) for row in chunk.skipped] == [(2, "target"), (4, "molecule")]
    with pytest.warns(SkippedRowsWarning):
        assert chunk.graphs.equals(read_smiles(path, bad="skip"))


def test_rows_without_a_group_are_groups_of_their_own(tmp_path):
    path = write(tmp_path / "m.csv", "smiles,y,lab\nC,1,a\nCC,2,\nCCC,3,a\nCCCC,4,\n")
    with pytest.warns(MissingGroupsWarning, match="2 rows have no 'lab', and each is a group of"):
        graphs = read_smiles(path, target="y", group="lab")
    assert graphs.groups[:, 0].tolist() == [0, 1, 0, 2]
    with pytest.warns(MissingGroupsWarning, match="2 rows"):
        (chunk,) = convert_smiles(path, size=9, target="y", group="lab")
    assert chunk.graphs.groups[:, 0].unique().numel() == 3


def test_the_column_of_groups_is_not_predicted(tmp_path):
    path = write(tmp_path / "m.csv", "smiles,y,lab\nC,1,a\nCC,0,b\n")
    assert read_smiles(path, group="lab").target_names == ("y",)
    (chunk,) = convert_smiles(path, size=9, group="lab")
    assert chunk.graphs.target_names == ("y",)
    with pytest.raises(DataError, match="'y' is the column of groups and cannot be predicted"):
        read_smiles(path, target="y", group="y")
