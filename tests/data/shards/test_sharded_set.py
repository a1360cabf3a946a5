from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.data.shards.small import in_parts, random_graphs

from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.data.shards.writer import ShardWriter
from lfds.data.storage import content_of

COUNT = 40


@pytest.fixture(scope="module")
def graphs():
    made = random_graphs(COUNT)
    return replace(made, groups=torch.arange(COUNT)[:, None] // 3)


@pytest.fixture(scope="module")
def sharded(graphs, tmp_path_factory):
    return in_parts(graphs, tmp_path_factory.mktemp("sharded") / "set")


def assert_same_batch(one, other):
    for entry in fields(one):
        mine, theirs = getattr(one, entry.name), getattr(other, entry.name)
        assert mine.dtype == theirs.dtype
        assert torch.equal(mine, theirs), entry.name


def test_it_has_the_tensors_of_the_set_in_memory(graphs, sharded):
    assert len(sharded.folder.manifest.parts) == 6
    assert sharded.equals(graphs)
    assert sharded.in_memory().equals(graphs)
    assert content_of(sharded) == content_of(graphs)
    assert (sharded.num_nodes, sharded.num_edges) == (graphs.num_nodes, graphs.num_edges)
    assert sharded.sizes.equal(graphs.sizes)
    assert sharded.degrees.equal(graphs.degrees)
    assert sharded.edge_index.equal(graphs.edge_index)
    assert sharded.known_targets.equal(graphs.known_targets)
    assert sharded.provenance == graphs.provenance
    assert "parts=6" in repr(sharded)


# Rows within a part, across parts, repeated, from the end, and none.
INDICES = st.one_of(
    st.lists(st.integers(-COUNT, COUNT - 1), max_size=30).map(
        lambda rows: np.array(rows, dtype=np.int64)
    ),
    st.slices(COUNT),
    st.integers(-COUNT, COUNT - 1),
    st.lists(st.booleans(), min_size=COUNT, max_size=COUNT),
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(rows=INDICES, data=st.data())
def test_batches_and_selections_are_those_of_the_set_in_memory(graphs, sharded, rows, data):
    assert_same_batch(sharded.batch(rows), graphs.batch(rows))
    part, expected = sharded[rows], graphs[rows]
    assert len(part) == len(expected)
    assert part.in_memory().equals(expected)
    assert part.num_edges == expected.num_edges
    assert content_of(part) == content_of(expected)
    if len(part):
        again = data.draw(st.lists(st.integers(0, len(part) - 1), max_size=5), label="again")
        assert part[again].in_memory().equals(expected[again])
        assert_same_batch(part.batch(again), expected.batch(again))


def test_pieces_are_all_graphs_in_order(graphs, sharded, monkeypatch):
    monkeypatch.setattr("lfds.data.shards.sharded_set._NODES_OF_A_PIECE", 20)
    for given_set, expected in ((sharded, graphs), (sharded[::-1], graphs[::-1])):
        pieces = list(given_set.pieces())
        assert len(pieces) > 3
        start = 0
        for piece in pieces:
            assert type(piece) is GraphSet
            assert piece.equals(expected[start : start + len(piece)])
            start += len(piece)
        assert start == COUNT
        # Blocks are read a piece at a time as well.
        assert content_of(given_set) == content_of(expected)
        assert given_set.ptr.equal(expected.ptr)


def test_targets_can_be_replaced_and_selected(graphs, sharded):
    y = torch.arange(COUNT).float()
    changed = sharded.with_targets(y, ())
    assert changed.equals(graphs.with_targets(y, ()))
    assert changed[[5, 3]].y.tolist() == [5.0, 3.0]
    assert changed.batch([5, 3]).y.tolist() == [5.0, 3.0]
    assert sharded.y.equal(graphs.y)  # not changed itself
    with pytest.raises(DataError, match="one row for each of 40 graphs"):
        sharded.with_targets(y[1:])


def test_features_replace_attributes_and_labels(graphs, tmp_path):
    featured = graphs.with_features(torch.randn(graphs.num_nodes, 4))
    sharded = in_parts(featured, tmp_path / "set")
    assert sharded.width("x") == 4
    assert sharded.features_as_attributes().equals(featured.features_as_attributes())
    same = in_parts(graphs, tmp_path / "same")  # where the features are the attributes
    assert same.features_as_attributes().equals(graphs.features_as_attributes())


@pytest.mark.parametrize(
    "y",
    [
        torch.tensor([[0, 1], [1, -1], [-1, 0]]).repeat(4, 1),
        torch.tensor([0.5, 1.5, 2.5]).repeat(4),
        torch.tensor([[0.5, torch.nan]]).repeat(12, 1),
        torch.empty(12, 0),
    ],
)
def test_targets_of_every_form(y, tmp_path):
    classes = ("no", "yes") if y.dtype == torch.int64 else ()
    graphs = replace(random_graphs(12), y=y, classes=classes)
    sharded = in_parts(graphs, tmp_path / "set")
    assert sharded.equals(graphs)
    assert sharded[[3, 11]].in_memory().equals(graphs[[3, 11]])
    assert sharded.has_targets == graphs.has_targets


def test_classes_of_parts_are_found_among_those_of_the_set(tmp_path):
    graphs = random_graphs(12, classes="abcdefgh")
    with ShardWriter(tmp_path / "set", graphs_per_part=4) as writer:
        for number in range(12):
            one = graphs[number]
            # As a reader sees them: a chunk knows the classes of its own graphs only.
            name = graphs.classes[int(one.y)]
            writer.add(one.with_targets(torch.tensor([0]), (name,)))
    sharded = ShardedGraphSet(tmp_path / "set")
    assert len({part.classes for part in sharded.folder.manifest.parts}) > 1
    found = [sharded.classes[k] for k in sharded.y.tolist()]
    assert found == [graphs.classes[k] for k in graphs.y.tolist()]
    assert list(sharded.classes) == sorted(set(found))
    rows = [7, 0, 11]
    assert [sharded.classes[k] for k in sharded.batch(rows).y.tolist()] == [found[k] for k in rows]


def test_it_opens_by_its_path_wherever_a_saved_set_does(graphs, sharded):
    from lfds.data.sources import open_source, read_any, stream_source

    path = sharded.folder.path
    for opened in (GraphSet.load(path), read_any(path), open_source(str(path))):
        assert isinstance(opened, ShardedGraphSet)
        assert opened.fingerprint == sharded.fingerprint
    assert type(GraphSet.load(path, mmap=False)) is GraphSet
    chunks = list(stream_source(str(path), size=9))
    assert [len(chunk.graphs) for chunk in chunks] == [9, 9, 9, 9, 4]
    assert chunks[1].graphs.in_memory().equals(graphs[9:18])


def test_a_set_that_does_not_fit_into_memory_says_so(sharded, monkeypatch):
    monkeypatch.setenv("LFDS_MAX_MEMORY", "1kB")
    monkeypatch.setattr("lfds.data.shards.sharded_set._NODES_OF_A_PIECE", 4)
    with pytest.raises(DataError, match=r"all its graphs in memory takes at least .* use fewer"):
        sharded.in_memory()
    with pytest.raises(DataError, match="attributes of all its graphs takes at least"):
        _ = sharded.attributes
    assert len(sharded.batch([3, 39])) == 2


def test_a_graph_that_is_not_there(sharded):
    with pytest.raises(IndexError, match="graph 40 is out of range; use 0 to 39"):
        sharded.batch(40)
