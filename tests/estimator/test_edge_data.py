"""Edge data from every source to predictions, files and drawings."""

import warnings
from dataclasses import replace
from functools import cache

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import lfds
from lfds.data.errors import DataError
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.data.shards.writer import ShardWriter
from lfds.estimator.input_conversion import UnseenEdgeLabelsWarning, as_graphs
from lfds.estimator.onnx import check_onnx, export_onnx
from lfds.train.edge_data import UnusedEdgesWarning

SMALL = {"slots": 4, "batch_size": 16, "options": {"width": 16, "head_width": 16}}


def rings(count, seed, size=8):
    """Rings with as many edges of each of two labels: in turn (even) or two by two (odd).

    Nodes are all the same, and so are the counts of labels: classes differ in which edges meet.
    """
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        kinds = (np.arange(size) // (1 + number % 2) + rng.integers(2)) % 2
        graph = nx.relabel_nodes(nx.cycle_graph(size), dict(enumerate(rng.permutation(size))))
        ring = nx.find_cycle(graph)
        nx.set_edge_attributes(
            graph, {edge: int(kind) for edge, kind in zip(ring, kinds, strict=True)}, "kind"
        )
        made.append(graph)
    return made


def ring_set(count, seed, **options):
    y = np.arange(count) % 2
    return lfds.GraphSet.from_networkx(rings(count, seed), y, edge_label="kind", **options)


@cache
def classifier():
    """Fitted on rings; do not fit it again."""
    return lfds.LFDSClassifier(**SMALL, epochs=25, seed=0, encoding="none").fit(ring_set(128, 0))


def test_a_class_that_shows_in_nothing_but_edge_labels():
    assert classifier().score(ring_set(100, 1)) > 0.95
    blind = {**SMALL, "options": {**SMALL["options"], "edge_features": False}}
    other = lfds.LFDSClassifier(**blind, epochs=3, encoding="none").fit(ring_set(128, 0))
    assert other.score(ring_set(100, 1)) < 0.7
    assert other.encoder_.edge_columns is None


def test_the_edge_data_of_networkx_by_name():
    clf = lfds.LFDSClassifier(**SMALL, epochs=2, edge_label="kind", edge_attributes=["kind"])
    clf.fit(rings(16, 0), [0, 1] * 8)
    assert clf.encoder_.edge_names == ("label0=0", "label0=1", "attribute0")
    clf.predict(rings(4, 1))
    with pytest.raises(DataError, match="lacks 'kind'"):
        clf.predict([nx.cycle_graph(4)])
    clf.predict([nx.empty_graph(2)])  # no edges: no data of edges needed


def test_edge_attr_of_pyg_and_edge_features_of_json_lines(tmp_path):
    clf = lfds.LFDSClassifier(**SMALL, epochs=2)
    pairs = torch.tensor([[0, 1], [1, 0]])
    made = [
        Data(x=torch.ones(2, 1), edge_index=pairs, edge_attr=torch.full((2, 2), 1.0 * number))
        for number in range(12)
    ]
    clf.fit(made, [0, 1] * 6)
    assert clf.network_.edge_channels == 2
    found = clf.predict_proba([made[0], made[11]])
    assert not np.allclose(found[0], found[1])
    with pytest.raises(DataError, match=r"edge attributes: the model was fitted on 2 .*have 0; pa"):
        clf.predict([Data(x=torch.ones(2, 1), edge_index=pairs)])
    with pytest.raises(DataError, match="graph 1: lacks edge_attr, which other graphs have"):
        clf.predict([made[0], Data(x=torch.ones(2, 1), edge_index=pairs)])
    file = tmp_path / "pairs.jsonl"
    lines = [
        f'{{"nodes": 2, "edges": [[0, 1]], "edge_features": [[{number}]], "label": "{number % 2}"}}'
        for number in range(12)
    ]
    file.write_text("\n".join([*lines, '{"nodes": 1, "label": "1"}']) + "\n")
    clf.fit(lfds.data.read_any(file))
    assert clf.network_.edge_channels == 1
    file.write_text("\n".join([*lines, '{"nodes": 2, "edges": [[0, 1]], "label": "1"}']) + "\n")
    with pytest.raises(DataError, match="edge_features is absent, but of width 1 in line 1"):
        lfds.data.read_any(file)


def test_bonds_that_change_change_the_prediction():
    smiles = ["CC", "C=C", "C#C", "CCO", "CC=O", "C1CCCCC1", "c1ccccc1", "CC#N"] * 3
    model = lfds.LFDSRegressor(**SMALL, epochs=2).fit(smiles, np.arange(24.0))
    names = model.encoder_.edge_names
    assert {"label0=1", "label0=2", "label0=3", "label0=12", "attribute0", "attribute1"} <= {*names}
    chain = as_graphs(["CCCC"], targets=False)
    other = replace(chain, edge_labels=chain.edge_labels.clone())
    other.edge_labels[:, 0] = 2
    assert not np.allclose(model.outputs(chain), model.outputs(other))


def test_stereo_of_double_bonds_reaches_the_network():
    smiles = ["F/C=C/F", "F/C=C\\F"] * 8
    model = lfds.LFDSRegressor(**SMALL, epochs=2).fit(smiles, np.arange(16.0))
    assert {"label1=0", "label1=3", "label1=4"} <= {*model.encoder_.edge_names}


def test_unseen_edge_labels_are_edges_without_a_label_with_one_warning():
    graphs = ring_set(4, 2)
    unseen = replace(graphs, edge_labels=graphs.edge_labels + 7)
    with pytest.warns(UnseenEdgeLabelsWarning) as caught:
        found = classifier().outputs(unseen)
    assert len(caught) == 1
    assert "64 edges have a label that was never seen in training (column 0: 7, 8)" in str(
        caught[0].message
    )
    encoded = classifier().encoder_.transform(unseen)
    assert not encoded.edge_x.any()
    with warnings.catch_warnings(action="error"):
        assert not np.allclose(found, classifier().outputs(graphs))


def test_other_numbers_of_edge_labels_are_one_line():
    graphs = ring_set(4, 2)
    two = replace(graphs, edge_labels=graphs.edge_labels.repeat(1, 2))
    with pytest.raises(DataError, match=r"^edge labels: the model was fitted on 1 for each edge"):
        classifier().predict(two)


def test_saved_loaded_and_folded(tmp_path):
    graphs = ring_set(10, 3)
    classifier().save(tmp_path / "model")
    again = lfds.load(tmp_path / "model")
    assert again.network_.edge_channels == 2
    assert np.array_equal(again.outputs(graphs), classifier().outputs(graphs))
    batch = classifier().encoder_.transform(graphs).batch(slice(0, 10))
    edges = lfds.nn.Edges.from_rows(batch.edge_ptr, batch.edge_dst, features=batch.edge_x)
    with torch.no_grad():
        plain = classifier().network_.eval()(batch.x, batch.ptr, edges)
    assert np.allclose(plain.numpy(), again.outputs(graphs), atol=1e-4)


def test_an_onnx_file_reads_edge_labels_and_attributes(tmp_path):
    pytest.importorskip("onnxruntime")
    graphs = ring_set(20, 4, edge_attributes=["kind"])
    clf = lfds.LFDSClassifier(**SMALL, epochs=2).fit(graphs)
    export_onnx(clf, tmp_path / "model.onnx")
    assert check_onnx(clf, tmp_path / "model.onnx", graphs) < 1e-5
    lonely = lfds.GraphSet.from_networkx([nx.empty_graph(2)] * 2, [0, 1])
    assert check_onnx(clf, tmp_path / "model.onnx", lonely) < 1e-5


def test_the_atlas_sees_what_the_network_sees():
    graphs = ring_set(6, 5)
    numbers = lfds.atlas(classifier(), graphs, show=2).numbers
    assert np.allclose(numbers.probabilities, classifier().predict_proba(graphs), atol=1e-5)


def test_partial_and_warm_fits_keep_the_edge_features():
    graphs = ring_set(16, 6)
    clf = lfds.LFDSClassifier(**SMALL, epochs=1, warm_start=True).partial_fit(graphs)
    assert clf.network_.edge_channels == 2
    assert clf.fit(graphs).network_.edge_channels == 2
    with pytest.raises(DataError, match="edge labels: the model was fitted on 1 for each edge"):
        clf.partial_fit(replace(graphs, edge_labels=graphs.edge_labels[:, :0]))


def test_ignored_edge_data_give_the_bits_of_graphs_without():
    graphs = ring_set(24, 7)
    bare = replace(graphs, edge_labels=graphs.edge_labels[:, :0])
    off = {**SMALL, "options": {**SMALL["options"], "edge_features": False}}
    one = lfds.LFDSClassifier(**off, epochs=2).fit(graphs)
    other = lfds.LFDSClassifier(**SMALL, epochs=2).fit(bare)
    mine, theirs = one.network_.state_dict(), other.network_.state_dict()
    assert mine.keys() == theirs.keys()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)


@pytest.mark.parametrize("parts", [False, True])
def test_several_processes_train_on_edge_data(parts, tmp_path):
    graphs = ring_set(16, 8)
    if parts:
        with ShardWriter(tmp_path / "set", graphs_per_part=8) as writer:
            writer.add(graphs)
        graphs = ShardedGraphSet(tmp_path / "set")
    clf = lfds.LFDSClassifier(**SMALL, epochs=1, workers=2).fit(graphs)
    assert clf.network_.edge_channels == 2
    assert (clf.network_.base.layers[0].message_activation.norm.running_var != 1).any()


def test_a_base_without_edge_data_says_so_once_and_others_are_saved_with_it(tmp_path):
    graphs = ring_set(16, 9)
    with pytest.warns(UnusedEdgesWarning, match="the base 'gcn' does not use labels") as caught:
        plain = lfds.LFDSClassifier(**SMALL, epochs=1, base="gcn").fit(graphs)
    assert sum(one.category is UnusedEdgesWarning for one in caught) == 1
    assert plain.network_.edge_channels == 0
    clf = lfds.LFDSClassifier(**SMALL, epochs=1, base="pna").fit(graphs)
    clf.save(tmp_path / "model")
    again = lfds.load(tmp_path / "model")
    assert again.base == "pna"
    assert np.array_equal(again.outputs(graphs), clf.outputs(graphs))
    assert again._network() == clf.network_.settings  # a warm start fits
    with pytest.raises(DataError, match="has the base 'pna', which an ONNX file cannot hold"):
        export_onnx(clf, tmp_path / "model.onnx")
