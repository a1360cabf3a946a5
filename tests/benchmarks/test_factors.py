"""The tables of docs/factors.md: gains beside the base, and what was not run."""

import sys

import pytest
from benchmarks import factors
from benchmarks.factors import Run, main, runs, table

BASE = {"folds": [[0.8, 0.7], [0.6, 0.5], [0.7, 0.6]], "seconds": 4.0}
BETTER = {"folds": [[0.9, 0.8], [0.7, 0.6], [0.8, 0.75]], "seconds": 5.0}


def kept(*values):
    base = {Run("ENZYMES", "now", "", ""): BASE}
    return base | {Run("ENZYMES", "now", *value): BETTER for value in values}


def test_a_value_stands_beside_the_base_with_its_gain():
    lines = table("ENZYMES", "now", kept(("depth", "3"))).splitlines()
    assert lines[2] == "| as it comes | | 60.0 | 70.0 |  | 4 |"
    assert lines[3].startswith("| depth | 3 | 71.7 | 80.0 | +11.7 (p ")


def test_what_was_not_run_is_named_by_its_factor():
    told = table("ENZYMES", "now", kept(("depth", "3"))).split("Not run: ")[1]
    assert "; depth (1); " in told
    assert "batch size (16, 64)" in told


def test_a_complete_table_has_nothing_to_name():
    every = kept(*((run.factor, run.value) for run in runs("ENZYMES", "now") if run.factor))
    assert "Not run" not in table("ENZYMES", "now", every)


@pytest.mark.parametrize("told", [["--factor", "colour"], ["COLOURS"]])
def test_unknown_names_are_refused_before_anything_is_run(told, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(factors, "run_and_keep", pytest.fail)
    monkeypatch.setattr(sys, "argv", ["factors", str(tmp_path), str(tmp_path / "run"), *told])
    with pytest.raises(SystemExit):
        main()
    assert f"{told[-1]}; " in capsys.readouterr().err


def test_single_factors_are_run_with_the_base(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(factors, "KEPT", tmp_path / "kept.jsonl")
    monkeypatch.setattr(factors, "write_page", lambda rows: None)
    monkeypatch.setattr(factors, "run_and_keep", lambda run, *rest: asked.append(run))
    given = ["factors", str(tmp_path), str(tmp_path / "run"), "ENZYMES", "--factor", "depth"]
    monkeypatch.setattr(sys, "argv", given)
    main()
    assert [run.value for run in asked] == ["", "1", "3"]
