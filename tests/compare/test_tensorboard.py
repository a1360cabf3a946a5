import importlib.util

import numpy as np
import pytest

from lfds.compare import SpecError, compare
from lfds.compare.tensorboard import TensorBoardCurves, points_of, run_of
from tests.compare.small import RecordingObserver, spec_for
from tests.results.records import failed_record, fair_record

pytest.importorskip("tensorboard")


def seen(folder):
    """Return what TensorBoard reads from a folder: the points of every curve of every run."""
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
    """Return a curve in single precision, with epochs counted from 1."""
    return [(epoch, float(np.float32(value))) for epoch, value in enumerate(values, start=1)]


def test_event_files_hold_the_numbers_of_fair_records(tmp_path):
    spec, observer = spec_for(tmp_path, pools=["max", "max+mean"], epochs=3), RecordingObserver()
    result = compare(
        spec, tmp_path / "run", TensorBoardCurves(tmp_path / "board", observer), root=tmp_path
    )
    assert observer.began == (4, 0, 0)
    assert (len(observer.steps), len(observer.ended)) == (12, 4)
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


def test_the_paper_protocol_has_a_curve_of_test_accuracy(tmp_path):
    spec = spec_for(tmp_path, protocol="paper")
    board = tmp_path / "board"
    result = compare(
        spec, tmp_path / "run", TensorBoardCurves(board, RecordingObserver()), root=tmp_path
    )
    for record in result.records:
        run = seen(board)[run_of(record)]
        assert run["accuracy/test (paper)"] == numbered(record.outcome.curve.test)
        assert not any("validation" in tag or "fair" in tag for tag in run)


def test_stored_records_are_written_once(tmp_path):
    spec, board = spec_for(tmp_path), tmp_path / "board"
    compare(spec, tmp_path / "run", RecordingObserver(), root=tmp_path)
    assert not board.exists()
    for _ in range(2):
        compare(
            spec, tmp_path / "run", TensorBoardCurves(board, RecordingObserver()), root=tmp_path
        )
        assert [len(run["loss/training"]) for run in seen(board).values()] == [2, 2]


def test_incomplete_curves_are_written_again(tmp_path):
    record = fair_record(0.5)
    curves = TensorBoardCurves(tmp_path, RecordingObserver())
    half = tmp_path / f"{run_of(record)}.part"
    half.mkdir(parents=True)
    (half / "events.out.tfevents.0.here").write_bytes(b"half")
    curves.begin([], [record], 0)
    assert not half.exists()
    assert list(seen(tmp_path)) == [run_of(record)]


def test_a_failed_fold_has_no_curves(tmp_path):
    TensorBoardCurves(tmp_path / "board", RecordingObserver()).begin([], [failed_record()], 0)
    assert not list(points_of(failed_record()))
    assert not list((tmp_path / "board").iterdir())


def test_a_name_with_a_slash_is_one_folder():
    assert run_of(fair_record(0.5, dataset="a/b", pool="max+mean")).count("/") == 2


def test_without_tensorboard_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SpecError, match=r"pip install 'lfds\[tensorboard\]'"):
        TensorBoardCurves(tmp_path, RecordingObserver())


def test_a_folder_that_cannot_be_created_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SpecError, match="file/board cannot be created"):
        TensorBoardCurves(tmp_path / "file" / "board", RecordingObserver())


def test_if_curves_cannot_be_written_the_message_says_that_records_are_safe(tmp_path):
    curves = TensorBoardCurves(tmp_path, RecordingObserver())
    (tmp_path / "SET").touch()
    with pytest.raises(SpecError, match="records are safe"):
        curves.end(None, fair_record(0.5))
