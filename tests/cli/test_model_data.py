"""A model finds its columns in files: targets by name, some of them, and the one with SMILES."""

import csv
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import lfds as library
from lfds.data.readers.smiles import read_smiles
from tests.cli.sources import FAST, lines
from tests.estimator.small import FAST as FAST_OPTIONS

pytest.importorskip("rdkit")
ROWS = 24
COLUMNS = {
    "A": [k % 2 for k in range(ROWS)],
    "B": ["" if k % 5 == 0 else k // 12 for k in range(ROWS)],
    "C": ["" if k % 3 == 0 else int(k % 4 == 1) for k in range(ROWS)],
}
VALUES = {name: [f"{one}.5" if one != "" else "" for one in COLUMNS[name]] for name in COLUMNS}


def write(path, columns, smiles="smiles"):
    rows = [[f"{'C' * (k // 2 + 1)}{'ON'[k % 2]}" for k in range(ROWS)], *columns.values()]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[smiles, *columns], *zip(*rows, strict=True)])


@cache
def model(names, task):
    """Return a fitted model; do not fit it again."""
    columns = VALUES if task == "regression" else COLUMNS
    with TemporaryDirectory() as folder:
        file = Path(folder) / "m.csv"
        write(file, {name: columns[name] for name in names})
        graphs = read_smiles(file, target=list(names), task=task)
    kind = library.LFDSRegressor if task == "regression" else library.LFDSClassifier
    return kind(**FAST_OPTIONS).fit(graphs)


@pytest.fixture
def fitted(lfds, tmp_path):
    """Return a function that saves a model and its data; it returns how to evaluate."""

    def fit(columns=COLUMNS, names=("A", "B", "C")):
        write(tmp_path / "m.csv", {name: columns[name] for name in names})
        model(names, "regression" if columns is VALUES else "classification").save("model")
        return run

    def run(file="m.csv", *target):
        flags = ("--target", *target) if target else ()
        code, out, err = lfds("evaluate", "model", file, "--json", *flags)
        assert code == 0, err
        return json.loads(out), err

    return fit


def errors(found):
    """Return log loss or squared error of each target, and how many graphs it has.

    They are not compared to the bit: the order of atoms, and so rounding, depends on the file.
    """
    each = found.get("targets", {"": found}).items()
    return {
        name: pytest.approx((one["graphs"], one.get("log_loss", one.get("rmse"))), rel=1e-5)
        for name, one in each
    }


def numbers(found):
    return {name: one.expected for name, one in errors(found).items()}


@pytest.mark.parametrize("columns", [COLUMNS, VALUES], ids=["classes", "values"])
def test_targets_are_matched_by_name_in_any_order(columns, fitted):
    run = fitted(columns)
    expected, err = run()
    assert err == ""
    for target in (["C", "B", "A"], ["B", "C", "A"], ["c", "a", "b"]):
        assert run("m.csv", *target) == (expected, "")


def test_other_names_are_matched_by_position_which_is_said(fitted, tmp_path):
    run = fitted()
    expected = errors(run()[0])
    write(tmp_path / "other.csv", dict(zip("xyz", COLUMNS.values(), strict=True)))
    found, err = run("other.csv", "x", "y", "z")
    assert numbers(found) == expected
    pairs = "'x' for 'A', 'y' for 'B', 'z' for 'C'"
    assert err == f"lfds: other.csv: columns are matched by position: {pairs}\n"
    # What has the same name is never taken for another target.
    write(tmp_path / "mixed.csv", {"new": COLUMNS["C"], "A": COLUMNS["A"], "B": COLUMNS["B"]})
    found, err = run("mixed.csv", "new", "A", "B")
    assert numbers(found) == expected
    assert err == "lfds: mixed.csv: columns are matched by position: 'new' for 'C'\n"


def test_one_target_of_another_name_is_taken_which_is_said(fitted, lfds, tmp_path):
    run = fitted(names=("A",))
    expected, err = run()
    assert err == ""
    write(tmp_path / "other.csv", {"x": COLUMNS["A"]})
    found, err = run("other.csv", "x")
    assert numbers(found) == errors(expected)
    assert err == "lfds: other.csv: columns are matched by position: 'x' for 'A'\n"


@pytest.mark.parametrize("columns", [COLUMNS, VALUES], ids=["classes", "values"])
@pytest.mark.parametrize("target", [["C", "A"], ["B"], ["A"]])
def test_some_targets_are_enough(columns, target, fitted):
    run = fitted(columns)
    expected, _ = run()
    found, err = run("m.csv", *target)
    assert err == ""
    assert found["targets"] == {name: expected["targets"][name] for name in sorted(target)}
    name = "log_loss" if columns is COLUMNS else "rmse"
    each = [one[name] for one in found["targets"].values()]
    assert found["mean"][name] == pytest.approx(np.mean(each))
    known = [any(columns[name][k] != "" for name in target) for k in range(ROWS)]
    assert found["graphs"] == sum(known)


@pytest.mark.parametrize("columns", [COLUMNS, VALUES], ids=["classes", "values"])
def test_targets_that_a_file_lacks_are_left_out_which_is_said(columns, fitted, tmp_path):
    run = fitted(columns)
    expected = errors(run()[0])
    write(tmp_path / "part.csv", {"B": [""] * ROWS, "A": columns["A"]})
    found, err = run("part.csv")
    assert numbers(found) == {"A": expected["A"]}
    assert err == "lfds: part.csv: evaluated without B (no values), C (not there)\n"
    found, err = run("part.csv", "A", "B")
    assert numbers(found) == {"A": expected["A"]}
    assert err == "lfds: part.csv: evaluated without B (no values)\n"


def test_what_cannot_be_evaluated_is_one_line(fitted, lfds, tmp_path):
    fitted()
    write(tmp_path / "other.csv", {"A": COLUMNS["A"], "x": COLUMNS["A"], "B": [""] * ROWS})
    for target, message in (
        (["A", "x"], "other.csv: has 2 targets (A, x), and the model 3 (A, B, C); pass graphs w"),
        (["x"], "other.csv: has 1 target (x), and the model 3 (A, B, C); pass graphs w"),
        (["B"], "other.csv: column 'B' has no values"),
        (["y"], "other.csv, line 1: has no column 'y'"),
    ):
        code, out, err = lfds("evaluate", "model", "other.csv", "--target", *target)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
    write(tmp_path / "bare.csv", {"id": range(ROWS)})
    code, _, err = lfds("evaluate", "model", "bare.csv")
    assert (code, "has no column 'A'" in err, err.count("\n")) == (2, True, 1)


def test_values_that_are_all_missing_are_one_line(fitted, lfds, tmp_path):
    fitted(VALUES)
    write(tmp_path / "bare.csv", {name: [""] * ROWS for name in VALUES})
    code, out, err = lfds("evaluate", "model", "bare.csv")
    message = "lfds: bare.csv: no target of any graph is known; fill them in\n"
    assert (code, out, err) == (2, "", message)


def test_an_atlas_says_which_rows_it_skips(fitted, lfds, tmp_path):
    fitted()
    with (tmp_path / "m.csv").open("a") as file:
        file.write("none,1,1,1\n")
    code, out, err = lfds("explain", "model", "m.csv", "--graphs", 2, "--skip-bad")
    assert (code, out.startswith("2 of 24 graphs")) == (0, True)
    assert err.startswith("lfds: warning: m.csv: skipped 1 row: 1 with an invalid SMILES; line 26")


@pytest.mark.parametrize("columns", [COLUMNS, VALUES], ids=["classes", "values"])
def test_an_atlas_needs_no_more_targets_than_there_are(columns, fitted, lfds, tmp_path):
    fitted(columns)
    write(tmp_path / "part.csv", {"B": columns["B"], "A": [""] * ROWS})
    for flags in ((), ("--target", "B"), ("--target", "B", "A")):
        code, out, err = lfds("explain", "model", "part.csv", "--graphs", 2, *flags)
        assert (code, err) == (0, "")
        assert out.startswith("2 of 24 graphs")


def test_an_atlas_shows_values_beside_the_predictions_of_the_same_name(fitted, tmp_path):
    from lfds.cli.model_data import open_for_model

    fitted(VALUES)
    estimator = library.load(tmp_path / "model")
    given = open_for_model(
        estimator, str(tmp_path / "m.csv"), tmp_path, target=["C", "A"], smiles=None, skip_bad=False
    )
    shown = library.atlas(estimator, given, show=1).numbers.true_values
    assert shown[:, 0].tolist() == [float(one) for one in VALUES["A"]]
    assert np.isnan(shown[:, 1]).all()
    wanted = [float(one) if one else float("nan") for one in VALUES["C"]]
    np.testing.assert_array_equal(shown[:, 2], np.float32(wanted))


def test_a_model_remembers_the_column_with_smiles(lfds, tmp_path):
    columns = {"y": COLUMNS["A"]}
    for name in ("mol", "smiles", "drug"):
        write(tmp_path / f"{name}.csv", columns, smiles=name)
    flags = ("--target", "y", "--smiles-column", "mol")
    assert lfds("fit", "mol.csv", "-o", "model", *flags, *FAST)[0] == 0
    assert library.load("model").molecules_.smiles_column == "mol"
    for command in ("predict", "evaluate", "explain"):
        # A file without such a column is read as by any other model.
        for file in ("mol.csv", "smiles.csv"):
            code, _, err = lfds(command, "model", file)
            assert (code, err) == (0, "")
        code, _, err = lfds(command, "model", "drug.csv")
        assert code == 2
        assert "needs a column 'smiles' in its header, which has 'drug, y'; name the col" in err
        assert lfds(command, "model", "drug.csv", "--smiles-column", "drug")[0] == 0
    assert lfds("predict", "model", "mol.csv", "--workers", "1", "-o", "parts")[0] == 0


def test_a_check_of_an_export_reads_the_column_of_the_model(lfds, tmp_path):
    pytest.importorskip("onnxruntime")
    write(tmp_path / "mol.csv", {"A": COLUMNS["A"]}, smiles="mol")
    graphs = read_smiles(tmp_path / "mol.csv", smiles="mol")
    library.LFDSClassifier(**FAST_OPTIONS).fit(graphs).save("model")
    code, out, _ = lfds("export", "model", "--onnx", "m.onnx", "--check", "mol.csv")
    assert (code, "at most on 24 graphs" in out) == (0, True)


def test_a_saved_set_tells_which_column_it_was_read_from(lfds, tmp_path):
    write(tmp_path / "mol.csv", {"y": COLUMNS["A"]}, smiles="mol")
    for more in ((), ("--shards",)):
        assert lfds("data", "convert", "mol.csv", "set", "--smiles-column", "mol", *more)[0] == 0
        assert lfds("fit", "set", "-o", "model", *FAST)[0] == 0
        assert lfds("predict", "model", "mol.csv")[0] == 0
        for file in (tmp_path / "set").iterdir():
            file.rename(tmp_path / f"{file.name}.old{len(more)}")


@pytest.mark.parametrize(
    ("fit_on", "given", "message"),
    [
        ("values", "names", "line 2: the model predicts values, and the targets are classes such"),
        ("classes", "values", "line 2: the model predicts classes, and the targets are numbers su"),
        ("values", "jsonl", "d.jsonl: the model predicts values, and the targets are classes such"),
    ],
)
def test_targets_of_the_other_kind_are_named_without_a_flag_that_is_not_there(
    fit_on, given, message, lfds, tmp_path
):
    kinds = {
        "values": [f"{k}.5" for k in range(ROWS)],
        "names": ["ab"[k % 2] for k in range(ROWS)],
    }
    (tmp_path / "d.jsonl").write_text("\n".join(lines()))
    model(("A",), "regression" if fit_on == "values" else "classification").save("model")
    if given != "jsonl":
        write(tmp_path / "d.csv", {"A": kinds[given]})
    code, out, err = lfds("evaluate", "model", "d.jsonl" if given == "jsonl" else "d.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert "--task" not in err
