import os

import pytest
from tests.data.shards.small import in_parts, random_graphs

from lfds.data.errors import DataError
from lfds.data.shards.manifest import MANIFEST, UNFINISHED
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.data.shards.writer import ShardWriter


class StopError(Exception):
    pass


def interrupted(path, graphs, positions=None, **how):
    """Write graphs, and fail before the end."""
    with ShardWriter(path, graphs_per_part=7, **how) as writer:
        writer.add(graphs, positions)
        raise StopError


def written(path, graphs=None, **how):
    with ShardWriter(path, **how) as writer:
        if graphs is not None:
            writer.add(graphs)


def test_parts_have_as_many_graphs_as_asked_for(tmp_path):
    sharded = in_parts(random_graphs(20), tmp_path / "set", graphs_per_part=8, chunk=3)
    assert [part.graphs for part in sharded.folder.manifest.parts] == [8, 8, 4]


def test_parts_of_large_graphs_have_fewer(tmp_path, monkeypatch):
    monkeypatch.setattr("lfds.data.shards.writer._NODES_PER_PART", 10)
    graphs = random_graphs(20)
    sharded = in_parts(graphs, tmp_path / "set", graphs_per_part=1000, chunk=20)
    assert max(part.nodes for part in sharded.folder.manifest.parts) < 10 + 8
    assert sharded.equals(graphs)


def test_graphs_are_appended_and_the_first_parts_stay_as_they_are(tmp_path):
    graphs = random_graphs(30)
    first = in_parts(graphs[:16], tmp_path / "set")
    before = first.folder.manifest
    with ShardWriter(tmp_path / "set", graphs_per_part=7, append=True) as writer:
        writer.add(graphs[16:])
    found = ShardedGraphSet(tmp_path / "set")
    assert found.folder.manifest.parts[: len(before.parts)] == before.parts
    assert found.equals(graphs)
    # What was opened before goes on to be what it was.
    assert first.equals(graphs[:16])
    assert first.fingerprint != found.fingerprint


def test_an_append_with_new_classes_and_labels(tmp_path):
    one, other = random_graphs(10, classes="bd"), random_graphs(10, seed=1, classes="ac")
    in_parts(one, tmp_path / "set")
    with ShardWriter(tmp_path / "set", append=True) as writer:
        writer.add(other)
    found = ShardedGraphSet(tmp_path / "set")
    names = [graphs.classes[k] for graphs in (one, other) for k in graphs.y.tolist()]
    assert [found.classes[k] for k in found.y.tolist()] == names
    assert found.classes == ("a", "b", "c", "d")


def test_a_failure_leaves_no_set_and_a_failed_append_the_one_before(tmp_path):
    graphs = random_graphs(30)
    with pytest.raises(StopError):
        interrupted(tmp_path / "set", graphs)
    assert not (tmp_path / "set" / MANIFEST).exists()
    sharded = in_parts(graphs[:16], tmp_path / "set")
    with pytest.raises(StopError):
        interrupted(tmp_path / "set", graphs[16:], append=True)
    assert ShardedGraphSet(tmp_path / "set").fingerprint == sharded.fingerprint
    assert sharded.equals(graphs[:16])


def test_writing_goes_on_where_it_was_interrupted(tmp_path):
    graphs = random_graphs(30)
    path = tmp_path / "set"
    with pytest.raises(StopError):
        interrupted(path, graphs[:24], range(100, 124), source="s")
    with ShardWriter(tmp_path / "new", source="s") as writer:
        assert writer.position is None
        writer.add(graphs)
    times = {part: os.stat(path / part / "graphs.safetensors").st_mtime_ns for part in parts(path)}
    assert len(times) == 3
    with pytest.raises(DataError, match=r"is not finished: .* run the same command again"):
        ShardedGraphSet(path)
    with ShardWriter(path, graphs_per_part=7, source="s") as writer:
        assert writer.position == 120  # the last of 21 graphs
        assert writer.stored_nodes == graphs[:21].num_nodes
        writer.add(graphs[21:], range(121, 130))
    found = ShardedGraphSet(path)
    assert found.equals(graphs)
    assert not (path / UNFINISHED).exists()
    for part, written in times.items():
        assert os.stat(path / part / "graphs.safetensors").st_mtime_ns == written


def test_another_source_starts_from_the_beginning(tmp_path):
    graphs = random_graphs(30)
    path = tmp_path / "set"
    with pytest.raises(StopError):
        interrupted(path, graphs, range(30), source="s")
    with ShardWriter(path, graphs_per_part=7, source="another") as writer:
        assert writer.position is None
        writer.add(graphs[:3])
    assert ShardedGraphSet(path).equals(graphs[:3])
    assert parts(path) == ["part-000000"]


def parts(path):
    return sorted(name for name in os.listdir(path) if name.startswith("part-"))


def test_two_writers_exclude_each_other(tmp_path):
    with ShardWriter(tmp_path / "set") as writer:
        writer.add(random_graphs(3))
        with pytest.raises(DataError, match="is being written by another process; wait"):
            written(tmp_path / "set")


@pytest.mark.parametrize(
    ("other", "match"),
    [
        (random_graphs(5, attributes=4), "attributes needs 3 columns as the set has, not 4"),
        (random_graphs(5, labels=1), "labels needs 2 columns as the set has, not 1"),
        (random_graphs(5).with_targets(random_graphs(5).y.float(), ()), "same kind and number"),
        (random_graphs(5).with_targets(random_graphs(5).y, (1, 2, 3)), "its classes are names"),
    ],
)
def test_graphs_of_another_form_are_refused(tmp_path, other, match):
    in_parts(random_graphs(10), tmp_path / "set")
    with pytest.raises(DataError, match=match):
        written(tmp_path / "set", other, append=True)
    assert len(ShardedGraphSet(tmp_path / "set")) == 10


def test_folders_that_are_not_written_to(tmp_path):
    sharded = in_parts(random_graphs(10), tmp_path / "set")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    (tmp_path / "file").touch()
    for path, how, match in (
        ("set", {}, "holds a sharded set already; choose a new folder, or append to it"),
        ("other", {}, "holds other files, such as 'thesis.tex'"),
        ("new", {"append": True}, "holds no sharded set to append to"),
        ("file", {}, "is a file, where a folder is to be written"),
        ("more", {"graphs_per_part": 0}, "needs at least 1, not 0"),
    ):
        with pytest.raises(DataError, match=match):
            written(tmp_path / path, random_graphs(3), **how)
    assert sharded.equals(random_graphs(10))


def test_a_set_without_graphs_is_refused(tmp_path):
    with pytest.raises(DataError, match="needs at least one graph"):
        written(tmp_path / "set")
