import json
import os
import re
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from lfds.config.migrations import SCHEMA_VERSION
from lfds.data import DataError, GraphSet
from lfds.data.sources import open_source, read_any
from lfds.data.storage import is_saved_set
from tests.data.graphs import graph_sets, three_graphs


@given(graphs=graph_sets(), mmap=st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_a_loaded_set_equals_the_saved_one(graphs, mmap, tmp_path):
    graphs.save(tmp_path / "set")
    loaded = GraphSet.load(tmp_path / "set", mmap=mmap)
    assert loaded.equals(graphs)
    assert dict(loaded.provenance) == dict(graphs.provenance)
    assert (loaded.x is loaded.attributes) == (graphs.x is graphs.attributes)
    assert loaded.batch([0]).edge_dst.tolist() == graphs.batch([0]).edge_dst.tolist()


def test_a_set_without_a_schema_version_is_read(tmp_path):
    graphs = three_graphs()
    graphs.save(tmp_path / "set")
    file = tmp_path / "set" / "graphs.json"
    stored = json.loads(file.read_text())
    assert stored.pop("schema_version") == SCHEMA_VERSION
    file.write_text(json.dumps(stored))
    assert GraphSet.load(tmp_path / "set").equals(graphs)


def test_saving_again_replaces_the_set(tmp_path):
    three_graphs().save(tmp_path / "set")
    three_graphs()[:1].save(tmp_path / "set")
    assert len(GraphSet.load(tmp_path / "set")) == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["set"]
    assert is_saved_set(tmp_path / "set")
    assert not is_saved_set(tmp_path)


@pytest.mark.parametrize("write", [GraphSet.save, GraphSet.to_tu])
def test_a_folder_with_other_files_is_not_replaced(write, tmp_path):
    (tmp_path / "thesis.tex").write_text("years")
    with pytest.raises(DataError, match=r"holds other files, such as 'thesis\.tex'"):
        write(three_graphs(), tmp_path)
    with pytest.raises(DataError, match="is a file, where a folder"):
        write(three_graphs(), tmp_path / "thesis.tex")
    assert (tmp_path / "thesis.tex").read_text() == "years"


@pytest.mark.parametrize("name", ["graphs.json", "graphs.safetensors"])
@pytest.mark.parametrize("content", ['{"nodes": 5}', "[1]", "no JSON", ""])
def test_other_files_with_our_names_are_not_replaced(name, content, tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / name).write_text(content)
    message = r"set: is not a saved set of graphs \(no valid graphs\.json\)"
    with pytest.raises(DataError, match=message) as caught:
        three_graphs().save(tmp_path / "set")
    assert "\n" not in str(caught.value)
    assert (tmp_path / "set" / name).read_text() == content
    assert [entry.name for entry in tmp_path.rglob("*")] == ["set", name]


def test_an_empty_folder_and_an_incomplete_set_are_replaced(tmp_path):
    (tmp_path / "set").mkdir()
    three_graphs().save(tmp_path / "set")
    (tmp_path / "set" / "graphs.safetensors").unlink()
    three_graphs().save(tmp_path / "set")
    assert GraphSet.load(tmp_path / "set").equals(three_graphs())


def test_a_full_disk_is_a_data_error_and_leaves_nothing(tmp_path):
    resource = pytest.importorskip("resource", reason="only Unix limits the size of files")
    big = GraphSet.from_arrays([1], [[], []], attributes=torch.zeros(1, 100_000))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(DataError, match="set: cannot be written"):
            big.save(tmp_path / "set")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_features_other_than_attributes_are_saved(tmp_path):
    graphs = three_graphs().with_features(torch.rand(5, 3))
    graphs.save(tmp_path / "set")
    assert GraphSet.load(tmp_path / "set").equals(graphs)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what is mapped")
def test_a_mapped_set_is_read_from_disk_when_used(tmp_path):
    big = GraphSet.from_arrays([1], [[], []], attributes=torch.zeros(1, 2_000_000))
    big.save(tmp_path / "set")
    mapped = GraphSet.load(tmp_path / "set")
    storage = str(tmp_path / "set" / "graphs.safetensors")
    assert storage in Path("/proc/self/maps").read_text(encoding="utf-8")
    assert float(mapped.x.sum()) == 0.0


def _break_json(folder, change):
    path = folder / "graphs.json"
    settings_ = json.loads(path.read_text())
    change(settings_)
    path.write_text(json.dumps(settings_))


def _break_tensor(folder, name, change):
    path = folder / "graphs.safetensors"
    tensors = load_file(path)
    tensors[name] = change(tensors[name])
    save_file({key: value for key, value in tensors.items() if value is not None}, path)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("ptr", lambda t: t.flip(0), "ptr needs to run from 0 to 5"),
        ("ptr", lambda t: torch.tensor([0, 4, 3, 5]), "ptr must not decrease"),
        ("ptr", lambda t: t[:0], "ptr needs to run"),
        ("ptr", lambda t: t.float(), "ptr needs torch.int64"),
        ("edge_dst", lambda t: t + 1, "names node"),
        ("edge_dst", lambda t: t - 1, "names node -1 of graph 0, which has 3 nodes"),
        ("edge_dst", lambda t: t.long(), "edge_dst needs torch.int32"),
        ("labels", lambda t: t[:-1], "labels needs 5 rows, not 4"),
        ("y", lambda t: t + 5, "indices of classes from 0 to 1"),
        ("y", lambda t: t.float(), "y needs int64 of one dimension"),
        ("y", lambda t: None, "lacks y"),
    ],
)
def test_invalid_tensors_of_a_saved_set_are_an_error(tmp_path, name, change, message):
    three_graphs().save(tmp_path / "set")
    _break_tensor(tmp_path / "set", name, change)
    with pytest.raises(DataError, match=message):
        GraphSet.load(tmp_path / "set")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.update(format="other"), "is not a saved set"),
        (lambda s: s.update(schema_version=99), "schema_version is 99, .* update lfds"),
        (lambda s: s.update(classes="ab"), '"classes" needs a list'),
        (lambda s: s.update(classes=[]), "y needs float32"),
        (lambda s: s.update(label_values=3), '"label_values" needs'),
        (lambda s: s.update(label_values=[]), "one entry for each column"),
        (lambda s: s.update(name=3), 'needs a "name"'),
        (lambda s: s.update(classes=[1, 1]), "classes need different names"),
        (
            lambda s: s.update(label_values=[[5, 5, 9]]),
            "label_values needs increasing",
        ),
        (lambda s: s.update(label_values=[["a"]]), "label_values needs increasing"),
    ],
)
def test_invalid_settings_of_a_saved_set_are_an_error(tmp_path, change, message):
    three_graphs().save(tmp_path / "set")
    _break_json(tmp_path / "set", change)
    with pytest.raises(DataError, match=message):
        GraphSet.load(tmp_path / "set")


@given(position=st.floats(0, 1), junk=st.binary(min_size=1, max_size=8), cut=st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@pytest.mark.parametrize("file", ["graphs.json", "graphs.safetensors"])
def test_damage_in_a_saved_set_is_a_data_error_or_harmless(tmp_path, file, position, junk, cut):
    folder = tmp_path / "set"
    if not folder.exists():
        three_graphs().save(tmp_path / "good")
        folder.mkdir()
    shutil.copytree(tmp_path / "good", folder, dirs_exist_ok=True)
    content = (folder / file).read_bytes()
    place = int(position * len(content))
    (folder / file).write_bytes(
        content[:place] + junk + (b"" if cut else content[place + len(junk) :])
    )
    with suppress(DataError):
        GraphSet.load(folder, mmap=False).batch(slice(None))


def test_a_set_read_at_once_must_be_finite(tmp_path):
    three_graphs().save(tmp_path / "set")
    _break_tensor(
        tmp_path / "set", "attributes", lambda t: t.index_fill(0, torch.tensor(3), torch.inf)
    )
    with pytest.raises(DataError, match="set: x is not finite in row 3"):
        GraphSet.load(tmp_path / "set", mmap=False)


def test_targets_are_finite(tmp_path):
    GraphSet.from_arrays([1], [[], []], [0.5]).save(tmp_path / "set")
    _break_tensor(tmp_path / "set", "y", lambda t: t * torch.nan)
    with pytest.raises(DataError, match="targets need finite numbers"):
        GraphSet.load(tmp_path / "set")


def test_a_folder_without_a_set_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"graphs\.json"):
        GraphSet.load(tmp_path)


def test_coordinates_are_saved(tmp_path):
    three_graphs().save(tmp_path / "without")
    assert "coordinates" not in load_file(tmp_path / "without" / "graphs.safetensors")
    assert GraphSet.load(tmp_path / "without").coordinates.shape == (5, 0)
    graphs = GraphSet.from_arrays([2], [[], []], coordinates=[[0, 1], [2, 3]])
    graphs.save(tmp_path / "with")
    assert GraphSet.load(tmp_path / "with").equals(graphs)


def test_a_set_whose_replacement_was_killed_between_the_renames_says_where_it_is(
    tmp_path, monkeypatch
):
    path = tmp_path / "set"
    three_graphs().save(path)
    rename, calls = os.replace, []

    def only_first(source, target):
        calls.append(target)
        if len(calls) > 1:
            raise OSError(5, "killed")
        rename(source, target)

    monkeypatch.setattr(os, "replace", only_first)
    with pytest.raises(DataError, match=r"killed.* move it back"):
        three_graphs().save(path)
    monkeypatch.undo()
    for load in (GraphSet.load, read_any, open_source):
        with pytest.raises(DataError, match=r"set: is missing: a save was interrupted") as caught:
            load(str(path))
    os.rename(re.search(r"set of graphs was moved to (\S+);", str(caught.value))[1], path)
    assert GraphSet.load(path).equals(three_graphs())
    three_graphs().save(path)
    assert [left.name for left in tmp_path.iterdir()] == ["set"]


def test_several_targets_and_groups_are_saved(tmp_path):
    y, groups = torch.tensor([[0, -1], [1, 0], [-1, 1]]), torch.tensor([[0], [7], [0]])
    names = {"target_names": ("a", "b"), "classes": ("no", "yes")}
    graphs = replace(three_graphs(), y=y, groups=groups, **names)
    graphs.save(tmp_path / "set")
    loaded = GraphSet.load(tmp_path / "set")
    assert loaded.equals(graphs)
    assert loaded[[1, 2]].groups.tolist() == [[7], [0]]
    numbers = torch.tensor([[0.5, torch.nan], [1, 0], [torch.nan, 1]])
    replace(graphs, y=numbers, classes=()).save(tmp_path / "set")
    assert GraphSet.load(tmp_path / "set").known_targets.tolist() == (~numbers.isnan()).tolist()
