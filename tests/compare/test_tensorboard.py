import importlib.util

import numpy as np
import pytest

from lfds.compare import SpecError, compare
from lfds.compare.tensorboard import Curves, points_of, run_of
from tests.compare.small import Silent, spec_for
from tests.results.records import failed_record, fair_record

pytest.importorskip("tensorboard")


def seen(folder):
    """What TensorBoard reads from a folder: the points of every curve of every run."""
    from tensorboard.backend.event_processing.event_multiplexer import EventMultiplexer

    reader = EventMultiplexer().AddRunsFromDirectory(str(folder)).Reload()
    return {
        run: {
            tag: [(point.step, point.value) for point in reader.Scalars(run, tag)]
            for tag in content["scalars"]
        }
        for run, content in reader.Runs().items()
    }


def numbered(values):
    """What single precision leaves of a curve, its epochs counted from 1."""
    return [(epoch, float(np.float32(value))) for epoch, value in enumerate(values, start=1)]


def test_event_files_hold_the_numbers_of_fair_records(tmp_path):
    spec, watcher = spec_for(tmp_path, pools=["max", "max+mean"], epochs=3), Silent()
    result = compare(spec, tmp_path / "run", Curves(tmp_path / "board", watcher), root=tmp_path)
    assert watcher.began == (4, 0, 0)
    assert (len(watcher.steps), len(watcher.ended)) == (12, 4)
    runs = seen(tmp_path / "board")
    assert set(runs) == {run_of(record) for record in result.records}
    for record in result.records:
        outcome, curve = record.outcome, record.outcome.curve
        assert runs[run_of(record)] == {
            "loss/training": numbered(curve.loss),
            "loss/validation": numbered(curve.validation_loss),
            "accuracy/training": numbered(curve.train),
            "accuracy/validation": numbered(curve.validation),
            "accuracy/test (fair)": [(outcome.epoch + 1, float(np.float32(outcome.accuracy)))],
        }


def test_under_the_paper_protocol_the_curve_of_test_accuracy_is_there(tmp_path):
    spec = spec_for(tmp_path, protocol="paper")
    board = tmp_path / "board"
    result = compare(spec, tmp_path / "run", Curves(board, Silent()), root=tmp_path)
    for record in result.records:
        run = seen(board)[run_of(record)]
        assert run["accuracy/test (paper)"] == numbered(record.outcome.curve.test)
        assert not any("validation" in tag or "fair" in tag for tag in run)


def test_records_that_were_there_are_written_once(tmp_path):
    spec, board = spec_for(tmp_path), tmp_path / "board"
    compare(spec, tmp_path / "run", Silent(), root=tmp_path)
    assert not board.exists()
    for _ in range(2):
        compare(spec, tmp_path / "run", Curves(board, Silent()), root=tmp_path)
        assert [len(run["loss/training"]) for run in seen(board).values()] == [2, 2]


def test_what_a_kill_left_half_written_is_written_anew(tmp_path):
    record = fair_record(0.5)
    curves = Curves(tmp_path, Silent())
    half = tmp_path / f"{run_of(record)}.part"
    half.mkdir(parents=True)
    (half / "events.out.tfevents.0.here").write_bytes(b"half")
    curves.begin([], [record], 0)
    assert not half.exists()
    assert list(seen(tmp_path)) == [run_of(record)]


def test_a_failed_fold_has_no_curves(tmp_path):
    Curves(tmp_path / "board", Silent()).begin([], [failed_record()], 0)
    assert not list(points_of(failed_record()))
    assert not list((tmp_path / "board").iterdir())


def test_a_name_with_a_slash_is_one_folder():
    assert run_of(fair_record(0.5, dataset="a/b", pool="max+mean")).count("/") == 2


def test_where_it_is_not_installed_the_way_out_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SpecError, match=r"pip install 'lfds\[tensorboard\]'"):
        Curves(tmp_path, Silent())


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SpecError, match="file/board cannot be made"):
        Curves(tmp_path / "file" / "board", Silent())


def test_a_folder_that_cannot_be_written_says_that_records_are_safe(tmp_path):
    curves = Curves(tmp_path, Silent())
    (tmp_path / "SET").touch()
    with pytest.raises(SpecError, match="records are safe"):
        curves.end(None, fair_record(0.5))
