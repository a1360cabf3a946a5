import json
import os

import pytest
import torch

from lfds.config.encoding import EncodingSettings
from lfds.data.encodings.encoder import Encoder
from lfds.data.encodings.rwse import RWSE
from lfds.data.encodings.sharded import store_encodings
from lfds.data.errors import DataError
from lfds.data.shards.engines import Where
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.data.shards.writer import ShardWriter
from tests.data.shards.small import in_parts, random_graphs

ENCODING = EncodingSettings(structure=("rwse", "degree"))


@pytest.fixture
def graphs():
    return random_graphs(30)


@pytest.fixture
def sharded(graphs, tmp_path):
    return in_parts(graphs, tmp_path / "set")


def files(sharded):
    """Return when each stored encoding was written."""
    found = sorted((sharded.folder.path / "encodings").glob("*/*"))
    return {file: os.stat(file).st_mtime_ns for file in found}


def test_features_are_those_of_the_set_in_memory(graphs, sharded):
    encoder = Encoder(ENCODING).fit(graphs)
    expected = encoder.transform(graphs)
    found = encoder.transform(sharded)
    assert isinstance(found, ShardedGraphSet)
    assert found.width("x") == encoder.width
    assert found.in_memory().x.equal(expected.x)
    rows = [29, 3, 3, 11]
    assert found.batch(rows).x.equal(expected.batch(rows).x)
    assert found[rows].batch([1, 2]).x.equal(expected[rows].batch([1, 2]).x)
    assert found.x.equal(expected.x)
    assert sharded.width("x") == 3  # not changed itself


def test_features_of_edges_are_those_of_the_set_in_memory(graphs, sharded):
    encoder = Encoder().fit(graphs)
    expected, found = encoder.transform(graphs), encoder.transform(sharded)
    assert found.width("edge_x") == encoder.edge_width == 6
    assert found.has_edge_data
    rows = [29, 3, 3, 11]
    assert found.batch(rows).edge_x.equal(expected.batch(rows).edge_x)
    assert found[rows].in_memory().edge_x.equal(expected[rows].edge_x)
    assert found.edge_x.equal(expected.edge_x)
    assert sharded.edge_x.shape == (graphs.num_edges, 0)
    assert sharded.batch(rows).edge_x.shape[1] == 0


def test_a_fit_in_pieces_is_the_fit_on_the_whole(graphs, sharded, monkeypatch):
    monkeypatch.setattr("lfds.data.shards.sharded_set._NODES_OF_A_PIECE", 20)
    train = list(range(0, 30, 2))
    whole = json.loads(Encoder(ENCODING).fit(graphs, train).to_json())
    pieces = json.loads(Encoder(ENCODING).fit(sharded, train).to_json())
    assert pieces["labels"] == whole["labels"]
    for name in ("means", "scales"):
        assert pieces["attributes"][name] == pytest.approx(whole["attributes"][name], rel=1e-12)
        mine, theirs = (one["edges"]["attributes"][name] for one in (pieces, whole))
        assert mine == pytest.approx(theirs, rel=1e-12)
    assert pieces["edges"]["labels"] == whole["edges"]["labels"]


def test_a_constant_column_has_no_deviation_in_any_number_of_pieces(tmp_path, monkeypatch):
    graphs = random_graphs(30, attributes=1)
    constant = graphs.with_features(torch.full((graphs.num_nodes, 1), 0.1)).features_as_attributes()
    sharded = in_parts(constant, tmp_path / "set")
    monkeypatch.setattr("lfds.data.shards.sharded_set._NODES_OF_A_PIECE", 20)
    assert Encoder().fit(sharded).attribute_scales[1] == (1.0,)


def test_graphs_without_any_features_have_ones(tmp_path):
    graphs = random_graphs(8, attributes=0, labels=0)
    sharded = in_parts(graphs, tmp_path / "set")
    encoder = Encoder().fit(sharded)
    assert (
        encoder.transform(sharded).batch([2, 5]).x.equal(encoder.transform(graphs).batch([2, 5]).x)
    )


def test_what_is_stored_is_not_computed_again(graphs, sharded):
    assert store_encodings(sharded, [RWSE()]) == 5
    before = files(sharded)
    assert len(before) == 5
    assert store_encodings(sharded, [RWSE()]) == 0
    # One is lost, one damaged, and the set gets a part more.
    lost, damaged, *others = before
    lost.unlink()
    damaged.write_bytes(damaged.read_bytes()[:-4])
    with ShardWriter(sharded.folder.path, append=True) as writer:
        writer.add(graphs[:3])
    longer = ShardedGraphSet(sharded.folder.path)
    assert store_encodings(longer, [RWSE()]) == 3
    after = files(longer)
    assert {file: after[file] for file in others} == {file: before[file] for file in others}
    encoder = Encoder(EncodingSettings(structure="rwse")).fit(graphs)
    assert encoder.transform(longer)[:30].in_memory().x.equal(encoder.transform(graphs).x)


def test_other_settings_and_other_content_have_other_files(graphs, sharded, tmp_path):
    store_encodings(sharded, [RWSE()])
    assert store_encodings(sharded, [RWSE(steps=5)]) == 5
    assert len(files(sharded)) == 10
    # A folder of encodings that belongs to other graphs is of no use for these.
    other = in_parts(random_graphs(30, seed=1), tmp_path / "other")
    (other.folder.path / "encodings").symlink_to(sharded.folder.path / "encodings")
    assert store_encodings(other, [RWSE()]) == 5


def test_processes_store_the_same_bits(graphs, tmp_path):
    contents = []
    for workers in (1, 2):
        sharded = in_parts(graphs, tmp_path / str(workers))
        store_encodings(sharded, [RWSE()], where=Where(workers))
        contents.append([file.read_bytes() for file in files(sharded)])
    assert contents[0] == contents[1]


def test_a_process_that_sees_another_set_says_so(sharded, graphs, monkeypatch):
    stale = ShardedGraphSet(sharded.folder.path)
    with ShardWriter(sharded.folder.path, append=True) as writer:
        writer.add(graphs[:3])
    with pytest.raises(DataError, match="has changed since the command was started"):
        store_encodings(stale, [RWSE()])


def test_the_number_of_processes_is_checked(sharded):
    with pytest.raises(DataError, match="workers: needs at least 1, not 0"):
        store_encodings(sharded, [RWSE()], where=Where(0))
