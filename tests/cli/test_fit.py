"""``lfds fit``, and the way from a file to predictions and metrics."""

import json
from copy import copy
from pathlib import Path

import pytest

import lfds as library
from lfds.cli.fit import FLAGS, summary
from lfds.config.network import NetworkSettings
from lfds.config.registry import BASES
from lfds.estimator.options import OWN_SETTINGS, Options
from lfds.estimator.output_decoding import ClassDecoder
from tests.cli.sources import FAST, lines, write_source
from tests.estimator.small import FAST as FAST_OPTIONS
from tests.estimator.small import classifier, graphs, regressor
from tests.estimator.test_options import another_value

NO_FLAGS = {
    "node_attributes",
    "node_label",
    "edge_attributes",
    "edge_label",
    "warm_start",
    "progress",
    "verbose",
}
SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.parametrize("form", ["jsonl", "csv", "clouds", "tu", "set"])
def test_from_every_source_to_predictions_and_metrics(form, lfds, tmp_path):
    data = write_source(tmp_path, form)
    code, out, err = lfds("fit", data, "-o", "model", *FAST)
    assert (code, err) == (0, "")
    assert "saved as model" in out
    code, out, err = lfds("predict", "model", data, "-o", "out.csv")
    assert (code, out) == (0, "")
    rows = (tmp_path / "out.csv").read_text().splitlines()
    assert len(rows) == 1 + (24 if form in ("tu", "set") else 20)
    assert f"predictions for {len(rows) - 1} graphs in out.csv" in err
    code, out, _ = lfds("evaluate", "model", data, "--json")
    assert code == 0
    assert json.loads(out)["graphs"] == len(rows) - 1


def test_numbers_with_a_point_are_regressed(lfds, tmp_path):
    pytest.importorskip("rdkit")
    rows = "\n".join(f"{'C' * (k + 1)},{k}.5" for k in range(12))
    (tmp_path / "data.csv").write_text(f"smiles,boils\n{rows}\n")
    code, out, _ = lfds("fit", "data.csv", "-o", "model", *FAST)
    assert code == 0
    assert "with 1 target\n" in out
    assert "validation R2 " in out
    assert isinstance(library.load("model"), library.LFDSRegressor)
    code, out, _ = lfds("predict", "model", "data.csv")
    assert out.splitlines()[0] == "line,smiles,boils"
    code, out, _ = lfds("evaluate", "model", "data.csv")
    assert "rmse" in out
    code, _, err = lfds("fit", "data.csv", "-o", "other", "--balanced", *FAST)
    assert code == 2
    assert err.startswith("lfds: --balanced: needs classes, and the targets of data.csv are num")


def test_flags_reach_the_estimator(lfds, tmp_path):
    data = write_source(tmp_path, "jsonl")
    some = ["--structure", "array", "--balanced", "--patience", "1", "--seed", "3"]
    more = ["--encoding", "rwse", "degree", "--validation", "0.3", "--reduction", "sum"]
    assert lfds("fit", data, "-o", "model", *FAST, *some, *more)[0] == 0
    made = library.load("model").get_params()
    for name, value in {
        "structure": "array", "slots": 4, "class_weight": "balanced", "patience": 1, "seed": 3,
        "encoding": ["rwse", "degree"], "validation": 0.3, "reduction": "sum",
        "options": {"width": 8, "head_width": 8}, "progress": False,
    }.items():  # fmt: skip
        assert made[name] == value


@pytest.mark.parametrize("base", BASES)
def test_every_base_from_a_fit_to_predictions(base, lfds, tmp_path):
    lines = (
        f'{{"nodes": 3, "edges": [[0, 1], [1, 2]], "edge_features": [[{k}], [{k * k}]], '
        f'"label": "{"ab"[k % 2]}"}}\n'
        for k in range(12)
    )
    (tmp_path / "data.jsonl").write_text("".join(lines))
    code, out, err = lfds("fit", "data.jsonl", "-o", "model", "--base", base, *FAST)
    assert code == 0
    assert "fitted on 12 graphs with 2 classes: a, b" in out
    if BASES[base].uses_edges:
        assert err == ""
    else:
        assert err == (
            f"lfds: warning: data: the base '{base}' does not use labels and attributes of edges, "
            "which are ignored; spatial, gine, gat, pna, gps do\n"
        )
    settings = library.load("model").network_.settings
    assert (settings.base, settings.uses_edges) == (base, BASES[base].uses_edges)
    code, out, _ = lfds("predict", "model", "data.jsonl")
    assert (code, len(out.splitlines())) == (0, 13)
    assert lfds("evaluate", "model", "data.jsonl")[0] == 0
    if base != "spatial":
        code, out, err = lfds("export", "model", "--onnx", "m.onnx")
        assert (code, out) == (2, "")
        assert err.endswith("which an ONNX file cannot hold; fit one with the base spatial\n")
        assert not (tmp_path / "m.onnx").exists()


def test_every_option_has_a_flag_in_the_help(lfds):
    out = " ".join(lfds("fit", "--help")[1].replace("│", " ").split())
    for name in Options.model_fields.keys() - NO_FLAGS:
        assert f" {FLAGS[name]} " in out
    assert (
        "Random seed; the same seed, graphs and number of workers and threads give the same" in out
    )
    for name in (*(NetworkSettings.model_fields.keys() - OWN_SETTINGS), *library.STRUCTURES):
        assert name in out


def test_scaffolds_of_graphs_that_are_no_molecules_are_refused_by_the_flag_that_was_given(
    lfds, tmp_path
):
    data = write_source(tmp_path, "set")
    code, out, err = lfds("fit", data, "-o", "model", *FAST, "--splits", "scaffold")
    assert (code, out) == (2, "")
    assert err.startswith("lfds: --splits: scaffolds are known of molecules in ")
    assert err.endswith(f" files, not of {data}; use random, or a JSON file\n")
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", NetworkSettings.model_fields)
def test_every_setting_of_the_network_is_a_value_of_option(name, lfds, monkeypatch):
    if name in OWN_SETTINGS:
        assert OWN_SETTINGS[name] in FLAGS
        return
    found = []
    monkeypatch.setattr("lfds.cli.fit._fit", lambda *arguments: found.append(arguments[-1]))
    value = another_value(name)
    flag = name.replace("_", "-")
    assert lfds("fit", "data", "-o", "model", "--option", f"{flag}={json.dumps(value)}")[0] == 0
    assert found == [{"options": {name: value}}]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--structure", "lop"], "--structure: no structure is called 'lop'; did you mean 'loop'"),
        (["--epochs", "0"], "--epochs: "),
        (["--batch-size", "1"], "--batch-size: "),
        (["--validation", "1.5"], "--validation: needs a number from 0 to below 1, not 1.5"),
        (["--workers", "0"], "--workers: needs an integer of at least 1, not 0"),
        (["--slots", "1000000000000"], "--slots: 1000000000000 makes a network"),
        (["--option", "width=0"], "--option width: "),
        (["--option", "width=x"], "--option width: "),
        (["--option", "width=10000000"], "--option width: 10000000 makes a network"),
        (["--base", "gim"], "--base: no base is called 'gim'; did you mean 'gin'?"),
        (
            ["--base", "gat", "--option", "heads=3"],
            "width must be a multiple of heads, got 64 and 3; use --option heads=1",
        ),
        (["--option", "base=gin"], "--option: 'base' has an option of its own; use --base"),
        (["--option", "wide=3"], "no option is called 'wide'"),
        (["--option", "slots=9"], "--option: 'slots' has an option of its own; use --slots ..."),
        (["--option", "pool=max"], "--option: 'pool' has an option of its own; use --structure"),
        (["--target", "y"], "--target: only .csv or .tsv files have this option, not data.jsonl"),
        (["--skip-bad"], "--skip-bad: only .csv or .tsv files have this option, not data.jsonl"),
    ],
)
def test_messages_name_flags(flags, message, lfds, tmp_path):
    write_source(tmp_path, "jsonl")
    code, out, err = lfds("fit", "data.jsonl", "-o", "model", *flags)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"lfds: {message}")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "nowhere.jsonl", "-o", "m"], "nowhere.jsonl"),
        (["fit", "data.jsonl", "-o", "notes"], "holds other files, such as 'mine.txt'"),
        (["fit", "one.jsonl", "-o", "m"], "one.jsonl: all 2 graphs are of class 'a'"),
        (["predict", "nowhere", "data.jsonl"], "is not a model"),
        (["predict", "model", "bad.jsonl", "-o", "out.csv"], "bad.jsonl, line 2"),
        (["predict", "model", "other.jsonl", "-o", "out.csv"], "node labels: the model was"),
        (["predict", "cut", "data.jsonl", "-o", "out.csv"], "is not what was saved"),
        (["evaluate", "model", "strange.jsonl"], "strange.jsonl: label 'star' is none of the"),
        (["export", "nowhere", "--onnx", "m.onnx"], "is not a model"),
    ],
)
def test_an_error_is_one_line_and_nothing_is_written(arguments, message, lfds, tmp_path):
    write_source(tmp_path, "jsonl")
    assert lfds("fit", "data.jsonl", "-o", "model", *FAST)[0] == 0
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    (tmp_path / "one.jsonl").write_text('{"nodes": 1, "label": "a"}\n' * 2)
    (tmp_path / "bad.jsonl").write_text('{"labels": [1]}\n{"labels": [1], "edges": [[0, 5]]}\n')
    (tmp_path / "other.jsonl").write_text('{"nodes": 1}\n')
    (tmp_path / "strange.jsonl").write_text('{"labels": [1], "label": "star"}\n' * 2)
    library.load("model").save("cut")
    (tmp_path / "cut" / "weights.safetensors").write_bytes(b"")
    before = sorted(path.name for path in tmp_path.iterdir())
    code, out, err = lfds(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("lfds: ")
    assert len(err.splitlines()) == 1
    assert message in err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_an_interrupted_fit_writes_nothing(lfds, tmp_path, monkeypatch):
    write_source(tmp_path, "jsonl")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("lfds.estimator.base.fit_networks", interrupt)
    code, _, err = lfds("fit", "data.jsonl", "-o", "model", *FAST)
    assert code == 130
    assert err == "lfds: stopped; nothing was written\n"
    assert not (tmp_path / "model").exists()


@pytest.mark.skipif(not (SHARED / "MUTAG").exists(), reason="no shared data here")
def test_a_published_dataset_by_name(lfds):
    root = ("--root", SHARED)
    assert lfds("fit", "MUTAG", "-o", "model", *root, *FAST)[0] == 0
    code, out, _ = lfds("predict", "model", "MUTAG", *root)
    assert code == 0
    assert len(out.splitlines()) == 189


def test_graphs_without_labels_are_predicted_but_not_fitted_or_evaluated(lfds, tmp_path):
    (tmp_path / "zeros.jsonl").write_text(
        "\n".join(line.replace('"path"', "0").replace('"ring"', "1") for line in lines())
    )
    (tmp_path / "bare.jsonl").write_text("\n".join(lines(label=None)))
    assert lfds("fit", "zeros.jsonl", "-o", "model", *FAST)[0] == 0
    assert lfds("predict", "model", "bare.jsonl")[0] == 0
    for arguments in (
        ("evaluate", "model", "bare.jsonl"),
        ("fit", "bare.jsonl", "-o", "new"),
        ("fit", "bare.jsonl", "-o", "new", "--balanced"),
    ):
        code, out, err = lfds(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("lfds: bare.jsonl: the graphs have no labels; ")
    code, out, err = lfds("compare", "--data", "bare.jsonl", "--graphs", "4", "--out", "new")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "the graphs have no labels" in err
    assert not (tmp_path / "new").exists()


def test_the_summary_of_a_fit():
    first, second = summary(classifier(), graphs())
    assert first == "fitted on 24 graphs with 2 classes: path, ring"
    assert second.startswith("best epoch ")
    assert ", validation accuracy " in second
    assert second.endswith(" %")
    history = regressor().history_
    error = history.validation_loss[history.best]
    assert summary(regressor(), graphs())[1].endswith(f", validation R2 {1 - error:.2f}")


def test_the_summary_of_a_fit_that_keeps_the_last_epoch():
    made = library.LFDSClassifier(**FAST_OPTIONS, keep="last").fit(graphs())
    assert summary(made, graphs())[1].startswith("last epoch 2 of 2, validation accuracy ")


def test_the_summary_of_a_fit_without_validation():
    made = library.LFDSClassifier(**FAST_OPTIONS, validation=0).fit(graphs())
    second = summary(made, graphs())[1]
    assert second.startswith("last epoch 2 of 2, training accuracy ")
    assert second.endswith("% (no validation graphs)")


def test_a_test_part_is_held_out_and_said(lfds, tmp_path):
    (tmp_path / "data.jsonl").write_text("\n".join(lines(40)))
    code, out, _ = lfds("fit", "data.jsonl", "-o", "model", "--test-size", "0.25", *FAST)
    assert code == 0
    assert "fitted on 30 graphs" in out
    assert "test on 10 graphs: accuracy " in out
    assert "saved as model, fitted without the 10 test graphs of 40; for a model of all" in out
    assert library.load("model").training_data_.graphs == 30
    again = lfds("fit", "data.jsonl", "-o", "model", "--test-size", "0.25", *FAST)[1]
    assert again == out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--test-size", "1"], "--test-size: needs a number between 0 and 1, not 1"),
        (["--test-size", "0.001"], "--test-size: 0.001 of 20 graphs leaves none to test on"),
        (["--test-size", "0.2", "--splits", "random"], "--test-size: --splits has a test part"),
        (["--splits", "."], "--splits: needs random, scaffold or a file, not '.'"),
        (["--splits", "scafold"], "--splits: needs random, scaffold or a file, not 'scafold'; did"),
    ],
)
def test_a_test_part_that_cannot_be_is_one_line(flags, message, lfds, tmp_path):
    data = write_source(tmp_path, "jsonl")
    code, out, err = lfds("fit", data, "-o", "model", *flags, *FAST)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert message in err
    assert not (tmp_path / "model").exists()


def test_groups_stay_together_in_a_test_part(lfds, tmp_path):
    pytest.importorskip("rdkit")
    rows = "\n".join(f"{'C' * (k + 1)},{k + 0.5},{k // 4}" for k in range(24))
    (tmp_path / "m.csv").write_text(f"smiles,y,g\n{rows}\n")
    flags = ("--target", "y", "--group-column", "g", "--test-size", "0.25")
    code, out, _ = lfds("fit", "m.csv", "-o", "model", *flags, *FAST)
    tested = int(out.partition("test on ")[2].split()[0])
    assert (code, tested % 4, tested > 0) == (0, 0, True)


def test_a_baseline_says_whether_the_network_is_worth_it(lfds, tmp_path):
    (tmp_path / "data.jsonl").write_text("\n".join(lines(40)))
    command = ("fit", "data.jsonl", "-o", "model", "--baseline", *FAST)
    code, out, _ = lfds(*command, "--test-size", "0.25")
    assert code == 0
    assert "baseline: a random forest has accuracy 1.0000 on the same 10 test graphs" in out
    code, out, _ = lfds(*command)
    assert "on the same 4 validation graphs" in out
    assert "--test-size 0.2 is fairer" in out
    code, out, _ = lfds(*command, "--validation", "0")
    assert (code, "baseline: needs graphs to compare on; use --test-size 0.2" in out) == (0, True)


def test_commands_for_terminals_in_names_are_shown_not_sent(lfds, tmp_path):
    graph = {"nodes": 3, "edges": [[0, 1], [1, 2]]}
    rows = [{**graph, "label": name} for name in ("a\x1b[2J", "b") * 6]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    _, out, _ = lfds("fit", "d.jsonl", "-o", "m\x1b[2J", "--epochs", "1", "--slots", "4")
    assert out.count("a\\x1b[2J") == 2  # what was decided, and what was fitted
    assert "saved as m\\x1b[2J" in out


@pytest.mark.parametrize("kind", [int, float])
def test_several_classes_in_json_lines_without_names(kind, lfds, tmp_path):
    rows = [[kind(k % 2), None if k == 3 else kind(k % 4 > 1)] for k in range(20)]
    lines = [{"nodes": 2 + k % 3, "edges": [[0, 1]], "label": row} for k, row in enumerate(rows)]
    (tmp_path / "ml.jsonl").write_text("\n".join(map(json.dumps, lines)))
    code, out, err = lfds("fit", "ml.jsonl", "-o", "model", "--task", "classification", *FAST)
    assert (code, err) == (0, "")
    assert "with 2 targets with classes 0 and 1" in out
    code, out, _ = lfds("evaluate", "model", "ml.jsonl", "--json")
    assert {name: one["graphs"] for name, one in json.loads(out)["targets"].items()} == {
        "target0": 20, "target1": 19
    }  # fmt: skip
    for line in lines:
        line["label"][1] = kind(0)
    (tmp_path / "one.jsonl").write_text("\n".join(map(json.dumps, lines)))
    code, _, err = lfds("fit", "one.jsonl", "-o", "other", "--task", "classification", *FAST)
    assert code == 2
    assert err.startswith("lfds: one.jsonl: target 'target1' needs graphs of both classes, and all")
    code, _, err = lfds("fit", "one.jsonl", "-o", "other", "--task", "regression", *FAST)
    assert (code, err) == (
        2, "lfds: one.jsonl: target 'target1' has one value only, 0; there is nothing to fit\n"
    )  # fmt: skip


def test_many_classes_are_shortened():
    made = copy(classifier())
    made.decoder_ = ClassDecoder(names=tuple(range(10_000)))
    assert summary(made, graphs())[0].endswith("with 10,000 classes: 0, 1, 2, 3, 4, ...")
