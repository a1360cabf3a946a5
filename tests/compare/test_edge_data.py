"""Comparisons of graphs whose edges have labels: records, keys, and the meaning of stored specs."""

from dataclasses import replace

import torch

from lfds.compare import compare
from lfds.config.comparison import make_spec
from lfds.config.migrations import VERSION_KEY, migrate_spec
from lfds.config.network import NetworkSettings
from lfds.config.training import TrainingSettings
from lfds.report.load import make_report
from lfds.report.run_spec import read_sources, reproduce
from tests.compare.small import RecordingObserver, graphs, spec_for, tasks_for


def labelled(folder):
    """Save the small graphs with edge labels; return where."""
    path = folder / "bonds"
    rings = graphs()
    made = replace(
        rings, name="bonds", edge_labels=torch.arange(rings.num_edges).remainder(3)[:, None]
    )
    made.save(path)
    return str(path)


def network(task):
    return task.settings["candidates"][0]["network"]


def test_records_of_graphs_without_edge_data_are_named_as_before(tmp_path):
    (plain, *_), (off, *_) = (
        tasks_for(tmp_path, options={"slots": 4, **more}) for more in ({}, {"edge_features": False})
    )
    assert "edge_features" not in network(plain)
    assert plain.key == off.key


def test_with_edge_data_the_setting_is_part_of_the_key(tmp_path):
    data = [labelled(tmp_path)]
    (on, *_), (off, *_) = (
        tasks_for(tmp_path, data=data, options={"slots": 4, **more})
        for more in ({}, {"edge_features": False})
    )
    assert network(on)["edge_features"] is True
    assert "edge_features" not in network(off)
    assert on.key != off.key


def test_a_stored_spec_means_what_it_meant():
    stored = {VERSION_KEY: 3, "data": ["MUTAG"]}
    found = migrate_spec(stored, NetworkSettings, TrainingSettings)
    assert found["options"] == {"edge_features": False}
    assert make_spec({}).network_for("max").edge_features
    assert not NetworkSettings.paper("max").edge_features


def test_a_run_on_both_kinds_of_graphs_is_one_report(tmp_path):
    spec = spec_for(tmp_path)
    both = {"data": [*spec.data, labelled(tmp_path)], "options": {**spec.options}}
    both["options"]["edge_features"] = True
    spec = spec_for(tmp_path, **both)
    result = compare(spec, tmp_path / "run", RecordingObserver(), root=tmp_path)
    assert not result.failed
    sizes = {record.fold.dataset: record.outcome.parameters for record in result.records}
    assert sizes["bonds"] > sizes["rings"]
    report = make_report([tmp_path / "run"])
    assert {series.row for series in report.series} == {"max"}
    assert report.complete
    (tmp_path / "run" / "spec.json").unlink()
    (source,) = read_sources([tmp_path / "run"])
    assert '"edge_features": true' in reproduce(source).spec


def test_a_grid_chooses_whether_edge_data_are_used(tmp_path):
    spec = spec_for(
        tmp_path, data=[labelled(tmp_path)], grid={"edge_features": [False, True]}, epochs=1
    )
    result = compare(spec, tmp_path / "run", RecordingObserver(), root=tmp_path)
    assert not result.failed
