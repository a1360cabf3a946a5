import json
import shutil
from dataclasses import replace

import pytest

from lfds.compare import SpecError, compare, fold
from lfds.compare.engines.local import Engine
from lfds.compare.runner import SPEC
from lfds.config.comparison import make_spec, read_options
from lfds.config.migrations import SCHEMA_VERSION, VERSION_KEY
from lfds.data import GraphSet
from lfds.results.record import Failure, ResultsError
from lfds.results.store import RECORDS, read_records
from lfds.train.checkpoint import CheckpointWarning
from tests.compare.small import RecordingObserver, spec_for, without_cost


def run(folder, spec, out="run", **how):
    observer = RecordingObserver()
    return compare(spec, folder / out, observer, root=folder, **how), observer


def test_every_fold_is_run_once(tmp_path):
    spec = spec_for(tmp_path, pools=["max", "mean"], seeds=2)
    result, observer = run(tmp_path, spec)
    assert observer.began == (8, 0, 0)
    assert len(observer.steps) == 16
    assert tuple(observer.ended) == read_records(tmp_path / "run").records
    assert [table.rule for table in result.tables] == ["fair"]
    assert all(cell.summary is not None for cell in result.tables[0].cells.values())
    assert result.tables[0].cells["max", "rings"].summary.seeds == 2
    assert not list((tmp_path / "run" / "checkpoints").iterdir())


def test_the_paper_protocol_has_three_tables(tmp_path):
    result, _ = run(tmp_path, spec_for(tmp_path, protocol="paper"))
    assert [table.rule for table in result.tables] == ["last", "common-best", "fold-best"]
    last, common, best = (table.cells["max", "rings"].summary.mean for table in result.tables)
    assert last <= common <= best


def test_stored_folds_are_not_run_again(tmp_path):
    first, _ = run(tmp_path, spec_for(tmp_path))
    more, observer = run(tmp_path, spec_for(tmp_path, pools=["max", "mean"]))
    assert observer.began == (4, 2, 0)
    assert len(observer.ended) == 2
    assert more.records[:2] == first.records


def test_checkpoints_of_stored_folds_are_removed(tmp_path):
    """A kill between the two leaves both the record and the checkpoint."""
    result, _ = run(tmp_path, spec_for(tmp_path))
    left = tmp_path / "run" / "checkpoints" / f"{result.records[0].key}-0.safetensors"
    left.write_bytes(b"of a completed fold")
    run(tmp_path, spec_for(tmp_path))
    assert not left.exists()


def test_other_settings_are_another_run_in_the_same_folder(tmp_path):
    run(tmp_path, spec_for(tmp_path))
    result, observer = run(tmp_path, spec_for(tmp_path, epochs=3))
    assert observer.began == (2, 0, 0)
    assert all(len(record.outcome.curve.loss) == 3 for record in result.records)
    assert len(read_records(tmp_path / "run").records) == 4


def test_a_fold_by_itself_equals_the_fold_of_a_larger_run(tmp_path):
    whole, _ = run(tmp_path, spec_for(tmp_path, pools=["max", "mean"], seeds=2))
    alone, _ = run(tmp_path, spec_for(tmp_path, pools=["mean"], seed=1), out="alone")
    by_key = {record.key: without_cost(record) for record in whole.records}
    assert all(without_cost(record) == by_key[record.key] for record in alone.records)


def test_the_folder_holds_the_last_spec_with_its_version(tmp_path):
    for epochs in (1, 2):
        spec = spec_for(tmp_path, epochs=epochs)
        run(tmp_path, spec)
    path = tmp_path / "run" / SPEC
    assert json.loads(path.read_text())[VERSION_KEY] == SCHEMA_VERSION
    assert make_spec(read_options(path)) == spec


def fail_on_fold_0(monkeypatch):
    fair = fold.RUNS["fair"]

    def sometimes(task, *rest):
        if task.fold.fold == 0:
            raise ArithmeticError("on purpose")
        return fair(task, *rest)

    monkeypatch.setitem(fold.RUNS, "fair", sometimes)


def test_a_failed_fold_is_stored_and_leaves_no_mean(tmp_path, monkeypatch):
    fail_on_fold_0(monkeypatch)
    result, _ = run(tmp_path, spec_for(tmp_path))
    assert [record.fold.fold for record in result.failed] == [0]
    assert str(result.tables[0].cells["max", "rings"]) == "1 of 2 folds failed"
    monkeypatch.undo()
    again, observer = run(tmp_path, spec_for(tmp_path))
    assert observer.ended == []
    assert again.failed == result.failed
    repaired, observer = run(tmp_path, spec_for(tmp_path), retry=True)
    assert (len(observer.ended), repaired.failed) == (1, ())
    assert all(cell.summary is not None for cell in repaired.tables[0].cells.values())


def test_the_fold_of_a_torn_record_is_run_again_to_the_same_bits(tmp_path):
    whole, _ = run(tmp_path, spec_for(tmp_path))
    path = tmp_path / "run" / RECORDS
    path.write_bytes(path.read_bytes()[:-30])
    again, observer = run(tmp_path, spec_for(tmp_path))
    assert observer.began[:2] == (2, 1)
    assert observer.began[2] > 0
    assert list(map(without_cost, again.records)) == list(map(without_cost, whole.records))
    assert again.tables == whole.tables


def test_results_of_another_version_are_refused_before_anything_is_run(tmp_path):
    run(tmp_path, spec_for(tmp_path))
    path = tmp_path / "run" / RECORDS
    lines = [json.loads(line) | {"format": 7} for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ResultsError, match="format 7"):
        run(tmp_path, spec_for(tmp_path))


def test_networks_that_do_not_fit_are_refused_before_anything_is_written(tmp_path):
    for options in (
        {"options": {"width": 10**7}},
        {"grid": {"width": [8, 10**7]}},
        {"pools": ["max", "loop"], "options": {"slots": 10**12}},
    ):
        with pytest.raises(SpecError, match=r"^(width|slots): 10+ makes .* choose a smaller one$"):
            run(tmp_path, spec_for(tmp_path, **options))
        assert not (tmp_path / "run").exists()


def test_an_engine_may_run_networks_that_do_not_fit_here(tmp_path):
    class Elsewhere(Engine):
        def run(self, tasks, directory, on_step, on_end):
            for task in tasks:
                on_end(task, Failure(reason="not here", traceback=""))

    spec = spec_for(tmp_path, options={"width": 10**7})
    result, _ = run(tmp_path, spec, engine=Elsewhere())
    assert [record.failure.reason for record in result.failed] == ["not here"] * 2


@pytest.mark.parametrize("damage", ["other graphs", "junk", "a file"])
def test_prepared_graphs_that_were_changed_are_moved_aside_and_written_anew(tmp_path, damage):
    spec = spec_for(tmp_path)
    first, _ = run(tmp_path, spec)
    (path,) = (tmp_path / "run" / "data").iterdir()
    graphs = GraphSet.load(path, mmap=False)
    if damage == "other graphs":
        replace(graphs, y=1 - graphs.y).save(path)
    elif damage == "junk":
        (path / "graphs.safetensors").unlink()  # the first run still has it mapped
        (path / "graphs.safetensors").write_bytes(b"x" * 100)
    else:
        shutil.rmtree(path)
        path.write_text("")
    (tmp_path / "run" / RECORDS).unlink()
    with pytest.warns(UserWarning, match=f"{path.name}: was changed .* written anew"):
        again, _ = run(tmp_path, spec)
    assert [*map(without_cost, again.records)] == [*map(without_cost, first.records)]
    assert GraphSet.load(path).equals(graphs)


def test_a_damaged_checkpoint_is_set_aside_and_the_fold_begins_anew(tmp_path):
    spec = spec_for(tmp_path)
    first, _ = run(tmp_path, spec)
    checkpoints = tmp_path / "run" / "checkpoints"
    for record in first.records:
        (checkpoints / f"{record.key}-0.safetensors").write_bytes(b"x" * 100)
    (tmp_path / "run" / RECORDS).unlink()
    with pytest.warns(CheckpointWarning, match="its training begins anew"):
        again, _ = run(tmp_path, spec)
    assert [*map(without_cost, again.records)] == [*map(without_cost, first.records)]
    assert not list(checkpoints.iterdir())


def test_what_a_killed_run_left_is_removed(tmp_path):
    left = [
        tmp_path / "run" / name for name in (".spec.json-{}", "data/.x-{}", "checkpoints/.y-{}")
    ]
    left = [path.with_name(f"{path.name.format('0' * 16)}.tmp") for path in left]
    for path in left:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("half")
    run(tmp_path, spec_for(tmp_path))
    assert not any(path.exists() for path in left)
    assert all(
        r.versions["backend"].startswith("torch ") for r in read_records(tmp_path / "run").records
    )
