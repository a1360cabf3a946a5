import csv
import json
import sys

import numpy as np
import pandas as pd
import pytest

import lfds as library
from lfds.cli.predict import write_predictions
from lfds.config.spreadsheet import spreadsheet_text
from lfds.data.chunk import Chunk, SkippedRow
from lfds.data.errors import DataError
from tests.estimator.small import FAST, classifier, graphs, regressor, values


def chunks(unit="graph"):
    for start in (0, 10, 20):
        part = graphs()[start : start + 10]
        yield Chunk(part, list(range(start, start + len(part))), unit)


def rows(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_classes_and_probabilities(tmp_path):
    assert write_predictions(classifier(), chunks("line"), tmp_path / "out.csv") == 24
    header, *table = rows(tmp_path / "out.csv")
    assert header == ["line", "label", "p(path)", "p(ring)"]
    assert [int(row[0]) for row in table] == list(range(24))
    assert [row[1] for row in table] == classifier().predict(graphs()).tolist()
    probabilities = np.array([row[2:] for row in table], dtype=float)
    assert np.allclose(probabilities, classifier().predict_proba(graphs()), atol=1e-5)


def test_class_names_are_quoted(tmp_path):
    made = library.LFDSClassifier(**FAST).fit(graphs(), ['a, "b"', "c\nd"] * 12)
    write_predictions(made, chunks(), tmp_path / "out.csv")
    assert {len(row) for row in rows(tmp_path / "out.csv")} == {4}
    assert {row[1] for row in rows(tmp_path / "out.csv")[1:]} <= {'a, "b"', "c\nd"}


def test_values_in_columns(tmp_path, capsys):
    write_predictions(regressor(), chunks(), tmp_path / "out.csv")
    header, *table = rows(tmp_path / "out.csv")
    assert header == ["graph", "value"]
    found = np.array([row[1] for row in table], dtype=float)
    assert np.allclose(found, regressor().predict(graphs()), rtol=1e-5)
    several = library.LFDSRegressor(**FAST).fit(graphs(), np.stack([values()] * 2, axis=1))
    write_predictions(several, chunks(), None)
    assert capsys.readouterr().out.startswith("graph,value0,value1\n0,")


def test_a_small_spread_about_a_large_mean_keeps_its_digits(tmp_path):
    made = library.LFDSRegressor(**FAST).fit(graphs(), 1e9 + values() / values().std())
    write_predictions(made, chunks(), tmp_path / "out.csv")
    _, *table = rows(tmp_path / "out.csv")
    found = np.array([row[1] for row in table], dtype=float)
    assert np.abs(found - made.predict(graphs())).max() < 1e-6


def test_an_error_leaves_the_previous_file(tmp_path):
    def broken():
        yield from chunks()
        raise DataError("no more")

    (tmp_path / "out.csv").write_text("before")
    with pytest.raises(DataError, match="no more"):
        write_predictions(classifier(), broken(), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1


def test_unseen_labels_are_one_line_for_all_batches(lfds, tmp_path, monkeypatch):
    monkeypatch.setattr("lfds.data.sources.CHUNK_SIZE", 4)
    classifier().save("model")
    rows = [json.dumps({"labels": [99], "features": [[0.5]]}) for _ in range(12)]
    (tmp_path / "new.jsonl").write_text("\n".join(rows))
    code, out, err = lfds("predict", "model", "new.jsonl")
    assert code == 0
    assert len(out.splitlines()) == 13
    assert err.count("warning") == 1
    assert "never seen in training" in err


def test_class_names_that_spreadsheets_would_run_are_guarded(tmp_path):
    names = ["=cmd()", "-1", "@x", "+1.5e3"]
    made = library.LFDSClassifier(**FAST).fit(graphs(), names * 6)
    write_predictions(made, chunks(), tmp_path / "out.csv")
    found = {row[1] for row in rows(tmp_path / "out.csv")[1:]}
    assert found <= {"'=cmd()", "-1", "'@x", "+1.5e3"}
    assert {spreadsheet_text(name) for name in names} == {"'=cmd()", "-1", "'@x", "+1.5e3"}


def test_other_text_that_spreadsheets_would_run_is_guarded(tmp_path):
    targets = pd.DataFrame({"=cmd()": ["=a", "b"] * 12, "plain": ["b", "=a"] * 12})
    made = library.LFDSClassifier(**FAST).fit(graphs(), targets)
    skipped = (SkippedRow(30, "@SUM(1+1)", "syntax error"),)
    part = graphs()[:4]
    chunk = Chunk(part, [1, 2, 3, 4], "line", ("C", "-C", "CC", "CCC"), skipped)
    write_predictions(made, [chunk], tmp_path / "out.csv", errors=True)
    header, *table = rows(tmp_path / "out.csv")
    assert header[2] == "'=cmd()"
    assert [row[1] for row in table] == ["C", "'-C", "CC", "CCC", "'@SUM(1+1)"]
    assert not any(cell.startswith(("=", "@", "+")) for row in table for cell in row)


def test_terminals_are_shown_escapes_and_files_get_them(tmp_path, monkeypatch, capsys):
    made = library.LFDSClassifier(**FAST).fit(graphs(), ["a\x1b[2J", "b\x1b[2J"] * 12)
    write_predictions(made, chunks(), None)
    assert "\x1b[2J" in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    write_predictions(made, chunks(), None)
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "p(a\\x1b[2J)" in shown
