"""Files written before 0.1: models predict, reports show and comparisons resume as they did."""

import csv
import json
import shutil
import sys
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

import lfds as library
from lfds.cli import main
from lfds.config.migrations import earlier_defaults
from lfds.config.network import NetworkSettings
from lfds.estimator import options
from tests.stored.machine import machine
from tests.stored.plain_data import after_more_training, predictions, set_contents

STORED = Path(__file__).parent / "before_0_1"
DATA = STORED / "data"

# How results have to agree with the stored ones. "rounding" is for arithmetic that was changed on
# purpose; on other machines and with other libraries nothing more can be asked for in any case.
# Layers were run by numba kernels, and predictions by a second network; both are plain torch now.
PREDICTIONS = "rounding"
TRAINING = "rounding"
CLOSE = {"rtol": 1e-5, "atol": 1e-6}
# Every step of a training adds to the differences of the ones before: without numba a loss was off
# by 0.003 after nine epochs. Of accuracies this allows for two test graphs in twenty.
CLOSE_AFTER_TRAINING = {"rtol": 0.0, "atol": 0.11}


def stored(path):
    return json.loads((STORED / path).read_text())


SAME_MACHINE = machine() == stored("about.json")["machine"]
MODELS = stored("predictions.json")
COMMANDS = stored("runs/commands.json")
INTERRUPTED = [name for name in COMMANDS if name.startswith("interrupted")]
COMPLETED = [name for name in COMMANDS if name not in INTERRUPTED]
RUNS = sorted([*STORED.glob("runs/*/"), *STORED.glob("published/*/")])


def assert_same(found, expected, agreement, close=CLOSE):
    """Compare numbers, bit by bit or up to rounding."""
    torch.testing.assert_close(
        torch.tensor(found, dtype=torch.float64),
        torch.tensor(expected, dtype=torch.float64),
        **({"rtol": 0, "atol": 0} if is_exact(agreement) else close),
    )


def is_exact(agreement):
    return agreement == "bits" and SAME_MACHINE


@pytest.fixture
def lfds(monkeypatch, capsys, tmp_path):
    """Return the command line, where the data of the stored runs are."""
    for name in ("rings", "splits.json", "grid.toml"):
        (shutil.copytree if (DATA / name).is_dir() else shutil.copy)(DATA / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["lfds", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, *capsys.readouterr()

    return run


@pytest.fixture
def trains_as_before(monkeypatch):
    """Train without what estimators got since: a floor of variances, averages in regression."""
    monkeypatch.setattr(options, "VARIANCE_FLOOR", 0.0)
    now = library.LFDSRegressor._training
    monkeypatch.setattr(
        library.LFDSRegressor,
        "_training",
        lambda self, decoder: now(self, decoder).model_copy(update={"averaging": 0.0}),
    )


# Models


def assert_same_predictions(found, expected):
    found, expected = dict(found), dict(expected)
    for name in ("predict", "predict_proba"):
        if expected.get(name) and not isinstance(expected[name][0], str | int):
            assert_same(found.pop(name), expected.pop(name), PREDICTIONS)
    assert found == expected  # labels, classes and epochs


@pytest.mark.parametrize("name", MODELS)
def test_models_predict_the_same(name):
    found = predictions(STORED / "models" / name, DATA / MODELS[name]["file"])
    for kernels in ("with numba", "without numba"):  # which there were then
        assert_same_predictions(found, MODELS[name][kernels])


@pytest.mark.parametrize("name", MODELS)
def test_models_predict_the_same_after_saving_them_again(name, tmp_path):
    file = DATA / MODELS[name]["file"]
    library.load(STORED / "models" / name).save(tmp_path / "model")
    found = predictions(tmp_path / "model", file)
    assert_same_predictions(found, predictions(STORED / "models" / name, file))


@pytest.mark.parametrize("name", [name for name in MODELS if MODELS[name]["after more training"]])
def test_models_are_fitted_further_to_the_same_numbers(name, trains_as_before):
    found = after_more_training(STORED / "models" / name, DATA / MODELS[name]["file"])
    expected = MODELS[name]["after more training"]
    assert_same(found, expected, TRAINING, {"rtol": 1e-2, "atol": 1e-2})


def test_stored_models_are_fitted_further_with_the_training_of_today():
    stored_one = library.load(STORED / "models" / "sequence-two-targets")
    new = library.LFDSRegressor(epochs=stored_one.epochs, learning_rate=stored_one.learning_rate)
    stored_training, training = (one._training(stored_one.decoder_) for one in (stored_one, new))
    for name in ("averaging", "variance_floor"):
        assert getattr(stored_training, name) == getattr(training, name) > 0


def test_the_command_predicts_the_same(lfds):
    code, out, _ = lfds("predict", STORED / "models" / "loop", DATA / "rings.jsonl")
    assert code == 0
    _, *found = csv.reader(out.splitlines())  # columns may be called otherwise
    _, *expected = csv.reader((STORED / "predictions.csv").read_text().splitlines())
    assert [row[:2] for row in found] == [row[:2] for row in expected]
    numbers = [[[float(value) for value in row[2:]] for row in rows] for rows in (found, expected)]
    assert_same(*numbers, PREDICTIONS)


# Reports


def _without_peaks(table):
    """Return the rows of a table, and the peak memory of each by itself."""
    rows = list(csv.DictReader(table.splitlines()))
    return rows, [float(row.pop("peak_memory") or 0) for row in rows]


@pytest.mark.parametrize("form", ["csv", "md"])
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_reports_show_the_same(lfds, run, form):
    code, out, _ = lfds("report", run, "--format", form)
    assert code == 0
    before = (STORED / "reports" / f"{run.name}.{form}").read_text()
    if form == "csv":
        # The peak memory was the maximum over folds; it is the median without the first.
        (shown, peaks), (expected, maxima) = map(_without_peaks, (out, before))
        assert shown == expected
        assert all(peak <= most for peak, most in zip(peaks, maxima, strict=True))
    else:
        assert out == before


# The records of must-win hold no curves, without which no page could be made.
@pytest.mark.parametrize(
    "run", [run for run in RUNS if run.name != "must-win"], ids=lambda run: run.name
)
def test_pages_are_made(lfds, run, tmp_path):
    code, _, _ = lfds("report", run, "-o", "page.html")
    assert code == 0
    page = (tmp_path / "page.html").read_text()
    with (STORED / "reports" / f"{run.name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert row["pool"] in page
        assert not row["mean"] or f"{100 * float(row['mean']):.1f}" in page


# Runs


def begun(name, place):
    """Copy a stored run to where it can be resumed."""
    return shutil.copytree(STORED / "runs" / name, place / name)


def files_in(run):
    """Return every file and its content, except the requested spec, which is written again."""
    files = (path for path in run.rglob("*") if path.is_file() and path.name != "spec.json")
    return {str(path.relative_to(run)): path.read_bytes() for path in files}


def whole_lines(content):
    return [line for line in content.splitlines(keepends=True) if line.endswith(b"\n")]


def outcomes(lines):
    """Return what came of each fold by its key; time and memory are never the same twice."""
    records = [json.loads(line) for line in lines]
    return {record["key"]: {**record["fold"], **record["outcome"]} for record in records}


def assert_same_outcomes(found, expected):
    assert found.keys() == expected.keys()
    for key, outcome in expected.items():
        mine = found[key]
        for name, values in outcome["curve"].items():
            assert_same(mine["curve"][name], values, TRAINING, CLOSE_AFTER_TRAINING)
        aside = {"curve", "accuracy", "seconds", "peak_memory"}
        if outcome["accuracy"] is not None:
            assert_same(mine["accuracy"], outcome["accuracy"], TRAINING, CLOSE_AFTER_TRAINING)
        if not is_exact(TRAINING):  # of two that are nearly as good, rounding may choose the other
            aside |= {"epoch", "candidate"}
        same = outcome.keys() - aside
        assert {name: mine[name] for name in same} == {name: outcome[name] for name in same}


@pytest.mark.parametrize("name", COMPLETED)
def test_the_same_command_trains_nothing_where_a_run_is_complete(lfds, name, tmp_path):
    run = begun(name, tmp_path)
    code, _, err = lfds("compare", *COMMANDS[name], "--out", run)
    assert code == (1 if name == "failed" else 0), err
    assert files_in(run) == files_in(STORED / "runs" / name)


def test_a_run_keeps_its_defaults_however_often_it_is_resumed(lfds, tmp_path):
    run = begun("fair", tmp_path)
    for _ in range(2):
        code, _, err = lfds("compare", *COMMANDS["fair"], "--out", run)
        assert code == 0
        assert "was begun by an earlier version, whose defaults are kept (anchors=fixed" in err
    assert files_in(run) == files_in(STORED / "runs" / "fair")
    code, _, err = lfds("compare", *COMMANDS["fair"], "--out", tmp_path / "new", "--epochs", "1")
    assert "earlier version" not in err


# An earlier version did not write down what could not be chosen yet.
@pytest.mark.parametrize("name", [name for name in COMPLETED if name != "earlier"])
def test_the_stored_spec_trains_nothing_either(lfds, name, tmp_path):
    run = begun(name, tmp_path)
    code, _, err = lfds("compare", "--spec", STORED / "runs" / name / "spec.json", "--out", run)
    assert code == (1 if name == "failed" else 0), err
    assert files_in(run) == files_in(STORED / "runs" / name)


SECONDS = 1e6


def mark(checkpoint):
    """Add to the time spent so far, by which a fold shows that it began with this checkpoint."""
    with safe_open(checkpoint, framework="pt") as file:
        about = file.metadata()
    progress = json.loads(about["progress"])
    about["progress"] = json.dumps({**progress, "seconds": progress["seconds"] + SECONDS})
    save_file(load_file(checkpoint), checkpoint, about)
    return about["key"]


@pytest.mark.parametrize("name", INTERRUPTED)
def test_an_interrupted_run_resumes_to_the_same_records(lfds, name, tmp_path):
    run = begun(name, tmp_path)
    before = files_in(run)
    (key,) = {mark(checkpoint) for checkpoint in (run / "checkpoints").iterdir()}
    code, _, err = lfds("compare", *COMMANDS[name], "--out", run)
    assert code == 0, err
    done, lines = whole_lines(before["records.jsonl"]), whole_lines(files_in(run)["records.jsonl"])
    assert lines[: len(done)] == done  # nothing that was done is done again
    expected = outcomes((STORED / "finished" / f"{name}.jsonl").read_bytes().splitlines())
    found = outcomes(lines)
    assert len(lines) == len(found) == len(expected) > len(done) > 0
    assert_same_outcomes(found, expected)
    resumed = {fold for fold, outcome in found.items() if outcome["seconds"] >= SECONDS}
    assert resumed == {key}
    after = files_in(run)
    assert not [path for path in after if path.startswith("checkpoints")]
    kept = {path for path in before if path.split("/")[0] in ("data", "encodings", "splits")}
    assert {path: after[path] for path in kept} == {path: before[path] for path in kept}
    assert after.keys() - before.keys() <= {"records.torn"}


@pytest.mark.slow
def test_all_poolings_are_trained_to_the_same_numbers(lfds, tmp_path):
    before = earlier_defaults(NetworkSettings, 1)
    options = [f"{name}={str(value).lower()}" for name, value in before.items()]
    code, _, err = lfds("compare", *COMMANDS["all-pools"], *options, "--out", tmp_path / "again")
    assert code == 0, err
    assert_same_outcomes(
        outcomes(whole_lines(files_in(tmp_path / "again")["records.jsonl"])),
        outcomes(whole_lines(files_in(STORED / "runs" / "all-pools")["records.jsonl"])),
    )


# Data


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("rings", lambda: library.data.read_any(DATA / "rings")),
        ("rings", lambda: library.data.read_any(DATA / "rings.jsonl")),
        ("rings", lambda: library.GraphSet.load(DATA / "rings", mmap=False)),
        ("full", lambda: library.data.read_any(DATA / "full")),
        ("prepared", lambda: library.load_dataset("rings", DATA / "prepared")),
    ],
    ids=["saved", "lines", "in memory", "with everything", "prepared"],
)
def test_sets_of_graphs_are_read(name, read):
    assert set_contents(read()) == stored("data/contents.json")[name]


def test_sets_are_the_same_after_saving_them_again(tmp_path):
    full = library.data.read_any(DATA / "full")
    full.save(tmp_path / "again")
    assert library.data.read_any(tmp_path / "again").equals(full)
    assert not library.data.read_any(DATA / "rings").equals(full)


def test_splits_are_read_and_made_as_before():
    splits = library.data.read_splits(DATA / "splits.json", 60)
    found = [[list(split.train), list(split.validation), list(split.test)] for split in splits]
    assert found == stored("data/contents.json")["splits"]
    y = library.data.read_any(DATA / "rings").y.numpy()
    assert library.data.stratified_folds(y, folds=3, seed=5, validation=0.2) == splits


def test_encoders_and_cached_encodings_are_read(tmp_path):
    cache = shutil.copytree(DATA / "encodings", tmp_path / "encodings")
    encoder = library.data.Encoder.load(DATA / "encoder.json")
    expected = stored("data/contents.json")
    graphs = library.data.read_any(DATA / "rings")[: len(expected["sizes encoded"])]
    encoded = encoder.transform(graphs, cache=cache)
    assert list(encoder.names) == expected["names"]
    assert encoded.sizes.tolist() == expected["sizes encoded"]
    assert_same(encoded.x.tolist(), expected["encoded"], "bits")
    assert files_in(cache) == files_in(DATA / "encodings")  # found there, and not computed again
