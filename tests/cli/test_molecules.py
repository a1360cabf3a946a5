"""Commands on molecules: what is decided is said, and nothing is dropped in silence."""

import csv
import json

import numpy as np
import pytest

import lfds as library
from tests.cli.sources import FAST

pytest.importorskip("rdkit")
RINGS = ("C1CC1", "C1CCC1", "c1ccccc1", "C1CCCCC1")


def write(path, columns, count=24):
    """Write molecules with columns, each a function of the row."""
    rows = [",".join(["smiles", *columns])]
    for k in range(count):
        smiles = f"{'C' * (k // 4)}O{RINGS[k % 4]}"
        rows.append(",".join([smiles, *(str(make(k)) for make in columns.values())]))
    path.write_text("\n".join(rows) + "\n")


def table(text):
    return list(csv.DictReader(text.splitlines()))


@pytest.mark.parametrize(
    ("make", "flags", "said", "kind"),
    [
        (lambda k: f"{k % 2}.0", (), "classification of y (2 classes: 0, 1); --task regr", "C"),
        (lambda k: f"{k % 2}.0", ("--task", "regression"), "task: regression of y\n", "R"),
        (lambda k: k, (), "task: regression of y; --task classification for classes", "R"),
        (lambda k: k % 3, (), "task: classification of y (3 classes: 0, 1, 2); --task regr", "C"),
        (lambda k: k % 3, ("--task", "regression"), "task: regression of y\n", "R"),
    ],
)
def test_what_is_fitted_is_said_in_one_line(make, flags, said, kind, lfds, tmp_path):
    write(tmp_path / "m.csv", {"y": make})
    code, out, _ = lfds("fit", "m.csv", "-o", "model", *FAST, *flags)
    assert code == 0
    assert out.startswith(f"task: {said}" if not said.startswith("task") else said)
    assert ("one fit on 24 graphs depends on its seed; use " in out) == (kind == "R")
    model = library.load("model")
    assert isinstance(model, library.LFDSClassifier if kind == "C" else library.LFDSRegressor)


def test_a_check_of_an_export_takes_another_column_with_smiles(lfds, tmp_path):
    write(tmp_path / "m.csv", {"y": lambda k: k % 2})
    text = (tmp_path / "m.csv").read_text().replace("smiles", "drug", 1)
    (tmp_path / "other.csv").write_text(text)
    assert lfds("fit", "m.csv", "-o", "model", *FAST)[0] == 0
    command = ("export", "model", "--onnx", "m.onnx", "--check", "other.csv")
    code, _, err = lfds(*command)
    assert code == 2
    assert "name the column with --smiles-column NAME" in err
    assert lfds(*command, "--smiles-column", "drug")[0] == 0


def test_several_targets_from_a_file_to_metrics(lfds, tmp_path):
    columns = {"a": lambda k: k % 2, "b": lambda k: "" if k % 5 == 0 else k // 12, "z": lambda k: k}
    write(tmp_path / "m.csv", columns)
    code, out, _ = lfds("fit", "m.csv", "-o", "model", "--target", "a", "b", *FAST)
    assert code == 0
    assert "with 2 targets with classes 0 and 1" in out
    assert "validation log loss" in out
    rows = table(lfds("predict", "model", "m.csv")[1])
    assert list(rows[0]) == ["line", "smiles", "a", "p(a=1)", "b", "p(b=1)"]
    assert all((float(row["p(a=1)"]) > 0.5) == (row["a"] == "1") for row in rows)
    code, out, _ = lfds("evaluate", "model", "m.csv")
    assert code == 0
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [
        ["a", "24"],
        ["b", "19"],
        ["mean", "24"],
    ]
    code, _, err = lfds("evaluate", "model", "m.csv", "--target", "z")
    message = "has 1 target (z), and the model 2 (a, b); pass graphs with the same"
    assert (code, err.strip()) == (2, f"lfds: m.csv: {message}, or some of them")


@pytest.mark.parametrize(
    ("make", "columns"),
    [
        (lambda k: k % 2, ["label", "p(0)", "p(1)", "std"]),
        (lambda k: f"{k}.5", ["y", "std(y)"]),
    ],
)
def test_an_ensemble_from_a_file_to_its_atlas(make, columns, lfds, tmp_path):
    write(tmp_path / "m.csv", {"y": make})
    code, out, _ = lfds("fit", "m.csv", "-o", "model", "--members", "2", *FAST)
    assert code == 0
    assert "best epochs " in out
    assert "of 2 members averaged" in out
    assert "depends on its seed" not in out
    rows = table(lfds("predict", "model", "m.csv")[1])
    assert list(rows[0]) == ["line", "smiles", *columns]
    assert all(float(row[columns[-1]]) > 0 for row in rows)
    model = library.load("model")
    smiles = [row["smiles"] for row in rows]
    if "label" in columns:
        found, std = model.predict_proba(smiles, return_std=True)
        std = std[range(24), found.argmax(axis=1)]
    else:
        std = model.predict(smiles, return_std=True)[1]
    assert [float(row[columns[-1]]) for row in rows] == pytest.approx(std, rel=1e-4)
    assert lfds("evaluate", "model", "m.csv")[0] == 0
    code, out, _ = lfds("explain", "model", "m.csv", "--member", "1")
    assert code == 0
    assert ", member 1 of 0 to 1" in out
    code, _, err = lfds("explain", "model", "m.csv", "--member", "2", "-o", "x.html")
    wanted = "lfds: --member: the model has no member 2; they are numbered 0 to 1"
    assert (code, err.strip()) == (2, wanted)
    assert not (tmp_path / "x.html").exists()


def test_several_targets_of_an_ensemble_have_a_spread_each(lfds, tmp_path):
    write(tmp_path / "m.csv", {"a": lambda k: k % 2, "b": lambda k: k // 12})
    flags = ("--target", "a", "b", "--members", "2", *FAST)
    assert lfds("fit", "m.csv", "-o", "model", *flags)[0] == 0
    rows = table(lfds("predict", "model", "m.csv")[1])
    assert list(rows[0])[2:] == ["a", "p(a=1)", "b", "p(b=1)", "std(a)", "std(b)"]


def test_skipped_rows_stay_in_the_predictions(lfds, tmp_path):
    write(tmp_path / "m.csv", {"y": lambda k: k % 2})
    lfds("fit", "m.csv", "-o", "model", *FAST)
    (tmp_path / "new.csv").write_text("SMILES,y\nC1CC,1\nOC1CC1,0\n")
    rows = table(lfds("predict", "model", "new.csv", "--skip-bad")[1])
    assert [row["line"] for row in rows] == ["2", "3"]
    assert [row["smiles"] for row in rows] == ["C1CC", "OC1CC1"]
    assert (rows[0]["label"], rows[0]["error"]) == ("", "invalid SMILES 'C1CC': unclosed ring")
    assert rows[1]["label"] in "01"
    assert rows[1]["error"] == ""
    code, _, err = lfds("predict", "model", "new.csv")
    assert code == 2
    assert "line 2: invalid SMILES 'C1CC': unclosed ring" in err


def test_stereoisomers_predict_otherwise(lfds, tmp_path):
    pairs = ["F/C=C/F", "F/C=C\\F", "C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"]
    rows = [
        f"{'C' * k}.{text},{place % 2}" for k in range(1, 7) for place, text in enumerate(pairs)
    ]
    (tmp_path / "m.csv").write_text("smiles,y\n" + "\n".join(rows) + "\n")
    lfds("fit", "m.csv", "-o", "model", *FAST)
    (tmp_path / "p.csv").write_text("smiles\n" + "\n".join(pairs) + "\n")
    one, other, left, right = table(lfds("predict", "model", "p.csv")[1])
    assert one["p(0)"] != other["p(0)"]
    assert left["p(0)"] != right["p(0)"]


def test_a_model_reads_molecules_as_those_it_was_fitted_on(lfds, tmp_path):
    write(tmp_path / "m.csv", {"y": lambda k: k % 2})
    flags = ("--atom-features", "basic", "--largest-fragment")
    lfds("fit", "m.csv", "-o", "model", *FAST, *flags)
    model = library.load("model")
    assert (model.molecules_.atom_features, model.molecules_.fragments) == ("basic", "largest")
    # One by one: the order of the nodes, and so how sums are rounded, depends on the place.
    alone, salt = (model.predict_proba([smiles]) for smiles in ("OC1CC1", "OC1CC1.Cl"))
    assert alone.tolist() == salt.tolist()
    assert lfds("predict", "model", "m.csv")[0] == 0
    assert lfds("evaluate", "model", "m.csv")[0] == 0


@pytest.mark.parametrize("splits", ["random", "scaffold"])
def test_a_part_is_kept_back_and_tested(splits, lfds, tmp_path):
    write(tmp_path / "m.csv", {"y": lambda k: f"{k}.5"}, count=32)
    with (tmp_path / "m.csv").open("a") as file:
        file.writelines(f"C1{'C' * (k + 5)}C1[Si],{k}.5\n" for k in range(8))
    code, out, err = lfds("fit", "m.csv", "-o", "model", "--splits", splits, *FAST)
    assert code == 0
    assert "fitted on 36 graphs" in out or splits == "scaffold"
    assert "test on " in out
    # An atom that no training molecule has is one line, not a Python warning with its source.
    assert all(line.startswith("lfds: warning: ") for line in err.splitlines())
    assert "rmse " in out


def test_groups_are_held_out_together(tmp_path):
    from lfds.data.readers.smiles import read_smiles
    from lfds.estimator.fitting import validation_parts
    from lfds.estimator.options import Options

    write(tmp_path / "m.csv", {"y": lambda k: k % 2, "lab": lambda k: k // 3})
    graphs = read_smiles(tmp_path / "m.csv", target="y", group="lab")
    labs = graphs.groups[:, 0].numpy()
    for seed in range(5):
        train, validation = validation_parts(graphs, graphs.y.numpy(), Options(seed=seed), None)
        assert not set(labs[train]) & set(labs[validation])
        assert len(validation)
        assert sorted([*train, *validation]) == list(np.arange(24))


@pytest.mark.parametrize(
    ("columns", "flags", "message"),
    [
        ({"y": lambda k: 1}, (), "all 24 graphs are of class '1'"),
        ({"y": lambda k: f"id{k}"}, (), "each of 24 graphs is of a class of its own, such as 'id0"),
        ({"y": lambda k: k}, ("--task", "classification"), "own, such as 0; use --task regression"),
        ({"y": lambda k: 1.5}, (), "target 'y' has one value only, 1.5; there is nothing to fit"),
        ({"y": lambda k: ""}, (), "column 'y' has no values"),
        ({"y": lambda k: "x" if k == 3 else k}, (), "line 5: 'x' is no number, unlike '0'"),
        ({"y": lambda k: k % 2}, ("--target", "smiles"), "'smiles' is the column with SMILES"),
        ({"y": lambda k: k % 2}, ("--target", "x"), "has no column 'x'; choose from smiles, y"),
        ({"y": lambda k: k % 2}, ("--smiles-column", "mol"), "needs a column 'mol'"),
        ({"y": lambda k: k % 2}, ("--task", "regress"), "--task: needs 'auto' or"),
        ({"y": lambda k: "ab"[k % 2]}, ("--task", "regression"), "regression needs numbers"),
        ({"y": lambda k: k % 2}, ("--splits", "folds.json"), "--splits: needs random, scaffold"),
        ({"y": lambda k: k % 2}, ("--group-column", "lab"), "has no column 'lab'"),
        ({"y": lambda k: k % 2}, ("--target", "y", "--group-column", "y"), "'y' is the column of "),
        (
            {"y": lambda k: k % 2},
            ("--splits", "f", "--group-column", "y"),
            "--group-column: the pa",
        ),
        ({"y": lambda k: k % 2}, ("--loss", "huber"), "--loss: is for regression"),
        ({"y": lambda k: k % 2}, ("--members", "0"), "--members: needs an integer from 1 to 1000"),
        ({"y": lambda k: k % 2}, ("--atom-features", "all"), "--atom-features: needs 'full' or"),
    ],
)
def test_what_cannot_be_fitted_is_one_line_and_nothing_is_written(
    columns, flags, message, lfds, tmp_path
):
    write(tmp_path / "m.csv", columns)
    code, out, err = lfds("fit", "m.csv", "-o", "model", *FAST, *flags)
    assert (code, out) == (2, "")
    assert err.startswith("lfds: ")
    assert err.count("\n") == 1
    assert message in err
    assert not (tmp_path / "model").exists()


def test_a_comparison_reports_duplicates_in_one_line(lfds, tmp_path):
    write(tmp_path / "m.csv", {"y": lambda k: k % 2})
    with (tmp_path / "m.csv").open("a") as file:
        file.write("OC1CC1,0\n")
    # As many folds as this are an error, found after reading.
    flags = ("--splits", "scaffold", "--folds", "20")
    code, _, err = lfds("compare", "--data", "m.csv", *flags, "--out", "runs")
    assert code == 2
    first, second = err.splitlines()
    assert first.startswith("lfds: warning: m.csv: 1 molecule occurs more than once")
    assert second == "lfds: --folds: m needs 2 to 4, the number of groups, not 20"


def test_nothing_is_printed_before_an_error(lfds, tmp_path):
    write(tmp_path / "m.csv", {"y": lambda k: k % 2})
    lfds("fit", "m.csv", "-o", "model", *FAST)
    (tmp_path / "g.jsonl").write_text('{"nodes": 1}\n')
    code, out, err = lfds("predict", "model", "g.jsonl")
    assert (code, out) == (2, "")
    assert "node attributes: the model was fitted on 4" in err


def test_evaluate_remembers_the_target_and_predict_keeps_columns(lfds, tmp_path):
    columns = {"id": lambda k: f"m{k}", "y": lambda k: "ab"[k % 2], "=x": lambda k: "=1+1"}
    write(tmp_path / "m.csv", columns)
    assert lfds("fit", "m.csv", "-o", "model", "--target", "y", *FAST)[0] == 0
    code, out, err = lfds("evaluate", "model", "m.csv")
    assert (code, err, "accuracy" in out) == (0, "", True)
    rows = table(lfds("predict", "model", "m.csv", "--keep", "id", "y", "=x")[1])
    assert list(rows[0]) == ["line", "smiles", "id", "y", "'=x", "label", "p(a)", "p(b)"]
    assert [row["id"] for row in rows] == [f"m{k}" for k in range(24)]
    assert {row["'=x"] for row in rows} == {"'=1+1"}  # not run by a spreadsheet
    code, _, err = lfds("predict", "model", "m.csv", "--keep", "idd")
    assert (code, "did you mean 'id'?" in err) == (2, True)
    code, out, err = lfds("predict", "model", "m.csv", "--keep", "smiles")
    assert (code, out, err.startswith("lfds: --keep: 'smiles' is the column with SMILES")) == (
        2, "", True,
    )  # fmt: skip


def test_explain_remembers_the_target_and_needs_none(lfds, tmp_path):
    columns = {"id": lambda k: f"m{k}", "y": lambda k: "ab"[k % 2]}
    write(tmp_path / "m.csv", columns)
    assert lfds("fit", "m.csv", "--target", "y", "-o", "model", *FAST)[0] == 0
    code, _, err = lfds("explain", "model", "m.csv", "-o", "known.html", "--graphs", 2)
    assert (code, err) == (0, "")
    assert '"target":-1' not in (tmp_path / "known.html").read_text()
    text = (tmp_path / "m.csv").read_text().replace("smiles,id,y", "drug,id,z")
    (tmp_path / "other.csv").write_text(text)
    command = ("explain", "model", "other.csv", "-o", "unknown.html", "--graphs", 2)
    assert "--smiles-column NAME" in lfds(*command)[2]
    code, out, err = lfds(*command, "--smiles-column", "drug")
    assert (code, err) == (0, "")
    assert out.startswith("2 of 24 graphs")


def test_kept_columns_of_skipped_rows_and_of_targets(lfds, tmp_path):
    write(tmp_path / "m.csv", {"id": lambda k: f"m{k}", "y": lambda k: k + 0.5})
    assert lfds("fit", "m.csv", "-o", "model", "--target", "y", *FAST)[0] == 0
    (tmp_path / "new.tsv").write_text("id\tsmiles\ty\nfirst\tCCO\t1\nsecond\tnone\t2\n")
    code, out, _ = lfds("predict", "model", "new.tsv", "--keep", "id", "y", "--skip-bad")
    first, second = table(out)
    assert (code, first["id"], first["y (given)"], second["id"]) == (0, "first", "1", "second")
    assert (second["y"], bool(first["y"]), bool(second["error"])) == ("", True, True)
    pytest.importorskip("pyarrow")
    command = ("predict", "model", "new.tsv", "--keep", "id", "--skip-bad", "--format", "parquet")
    assert lfds(*command, "-o", "parts")[0] == 0
    from pyarrow import parquet

    found = parquet.read_table(next((tmp_path / "parts").glob("*.parquet"))).to_pydict()
    assert found["id"] == ["first", "second"]
    other = ("predict", "model", "new.tsv", "--keep", "y", "--skip-bad", "--format", "parquet")
    assert "holds predictions of other graphs" in lfds(*other, "-o", "parts")[2]


def test_nothing_is_written_if_the_data_do_not_fit(lfds, tmp_path):
    write(tmp_path / "m.csv", {"y": lambda k: k + 0.5})
    assert lfds("fit", "m.csv", "-o", "model", *FAST)[0] == 0
    (tmp_path / "bare.jsonl").write_text('{"nodes": 2, "edges": [[0, 1]]}\n' * 3)
    for more in ((), ("-o", "out.csv"), ("-o", "parts", "--workers", "1")):
        code, out, err = lfds("predict", "model", "bare.jsonl", *more)
        assert (code, out, len(err.splitlines())) == (2, "", 1)
        assert "the model was fitted on" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bare.jsonl", "m.csv", "model"]


def test_messages_about_files_name_flags(lfds, tmp_path):
    write(tmp_path / "m.csv", {"a": lambda k: k % 2, "b": lambda k: k % 2})
    assert "with --target NAME" in lfds("fit", "m.csv", "-o", "model")[2]
    (tmp_path / "bad.csv").write_text("smiles,y\nCC,1\nnone,0\n")
    assert "with --skip-bad" in lfds("fit", "bad.csv", "-o", "model")[2]
    (tmp_path / "other.csv").write_text("molecule,y\nCC,1\nC,0\n")
    assert "with --smiles-column NAME" in lfds("fit", "other.csv", "-o", "model")[2]


def write_parts(path, train, validation, test):
    entry = {"test": test, "model_selection": [{"train": train, "validation": validation}]}
    path.write_text(json.dumps([entry]))


def write_gaps(path):
    """Write 40 rows: 0 to 7 cannot be read or lack a target, the others have their number."""
    rows = [f"C1CC1{'C' * k},{k}.5" for k in range(40)]
    rows[:8] = ["xx,1.5", "C,", "xx,1.5", "xx,1.5", "C,", "xx,1.5", "xx,1.5", "C,"]
    path.write_text("smiles,y\n" + "\n".join(rows) + "\n")


def test_a_split_names_rows_of_the_file_also_where_some_are_skipped(lfds, tmp_path):
    write_gaps(tmp_path / "m.csv")
    write_parts(tmp_path / "rows.json", [*range(4, 28)], [28, 29, 30], [*range(31, 40)])
    flags = ("--skip-bad", "--splits", "rows.json", *FAST)
    code, out, _ = lfds("fit", "m.csv", "-o", "model", *flags)
    assert code == 0
    assert "\nrows.json: 4 of its 36 rows were skipped\n" in out
    assert "fitted on 23 graphs" in out
    assert "saved as model, fitted without the 9 test graphs of 32; " in out
    # The same molecules without rows between them.
    rows = (tmp_path / "m.csv").read_text().splitlines()
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "m.csv").write_text("\n".join([rows[0], *rows[9:]]) + "\n")
    write_parts(tmp_path / "kept.json", [*range(20)], [20, 21, 22], [*range(23, 32)])
    again = lfds("fit", "kept/m.csv", "-o", "again", "--splits", "kept.json", *FAST)[1]
    assert [line for line in again.splitlines() if line.startswith("test on 9 graphs")] == [
        line for line in out.splitlines() if line.startswith("test on 9 graphs")
    ]


@pytest.mark.parametrize(
    ("train", "test", "message"),
    [
        ([8, 40], [9], "row 40, but m.csv has 40 rows, counted from 0 to 39, and the 8 skipped"),
        ([8, -1], [9], "names row -1, but m.csv has 40 rows"),
        ([8, 9], [9], "names row 9 twice; each is in one part at most"),
        ([], [9], "has no rows to train on; name some"),
        ([1, 2], [9], "all rows to train on of its first fold were skipped in m.csv"),
    ],
)
def test_rows_of_a_split_that_cannot_be_are_named(train, test, message, lfds, tmp_path):
    write_gaps(tmp_path / "m.csv")
    write_parts(tmp_path / "rows.json", train, [], test)
    code, out, err = lfds("fit", "m.csv", "-o", "m", "--skip-bad", "--splits", "rows.json", *FAST)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("lfds: rows.json: ")
    assert message in err


def test_a_split_of_a_saved_set_names_graphs(lfds, tmp_path):
    write_gaps(tmp_path / "m.csv")
    assert lfds("data", "convert", "m.csv", "set", "--skip-bad")[0] == 0
    write_parts(tmp_path / "rows.json", [*range(20)], [], [32])
    code, _, err = lfds("fit", "set", "-o", "model", "--splits", "rows.json", *FAST)
    assert (code, "names graph 32, but set has 32 graphs, counted from 0 to 31\n" in err) == (
        2,
        True,
    )


def test_a_split_of_some_rows_says_what_was_left_out_and_how_it_validates(lfds, tmp_path):
    write(tmp_path / "m.csv", {"y": lambda k: f"{k}.5"})
    write_parts(tmp_path / "rows.json", [*range(10)], [], [20])
    _, out, _ = lfds("fit", "m.csv", "-o", "model", "--splits", "rows.json", *FAST)
    assert "validation on 1 of these graphs, drawn at random: rows.json leaves none\n" in out
    assert "test on 1 graph: " in out
    assert "fitted without 14 of 24 graphs (1 test graph, 13 in no part); " in out
    write_parts(tmp_path / "rows.json", [*range(20)], [20, 21], [22, 23])
    _, out, _ = lfds("fit", "m.csv", "-o", "model", "--splits", "rows.json", *FAST)
    assert "drawn at random" not in out
    assert "fitted without the 2 test graphs of 24; " in out


def test_a_random_split_of_groups_has_a_seed(lfds, tmp_path):
    write(tmp_path / "m.csv", {"y": lambda k: f"{k}.5", "lab": lambda k: k // 10}, count=70)
    tested = set()
    for seed in range(3):
        flags = ("--group-column", "lab", "--splits", "random", "--seed", seed, *FAST)
        code, out, _ = lfds("fit", "m.csv", "-o", "model", *flags)
        assert (code, "fitted on 60 graphs with 1 target" in out) == (0, True)
        tested.add(next(line for line in out.splitlines() if line.startswith("test on 10 graphs")))
    assert len(tested) == 3
