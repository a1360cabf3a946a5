from dataclasses import replace
from pathlib import Path
from types import FunctionType

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.data import Data

import lfds
from lfds.data.encodings.encoder import Encoder, EncodingSettings
from lfds.data.errors import DataError
from lfds.estimator.input_conversion import UnseenLabelsWarning, as_graphs, check_features
from tests.estimator.small import FAST, graphs, labels, networkx_graphs


def test_every_form_of_graphs_becomes_the_same_set():
    expected = graphs()
    from_networkx = as_graphs(networkx_graphs(), node_attributes=["weight"], node_label="kind")
    assert torch.equal(from_networkx.edge_dst, expected.edge_dst)
    assert torch.equal(from_networkx.labels, expected.labels)
    assert torch.equal(from_networkx.attributes, expected.attributes)
    from_pyg = as_graphs(expected.to_pyg())
    assert torch.equal(from_pyg.edge_dst, expected.edge_dst)
    assert torch.equal(from_pyg.labels, expected.labels)
    assert as_graphs(expected) is expected


def test_a_list_of_sets_is_concatenated():
    """scikit-learn takes single graphs out of a set, one by one."""
    expected = graphs()
    assert as_graphs([expected[k] for k in range(len(expected))]).equals(expected)
    assert as_graphs(iter([expected])).equals(expected)


def test_arrays_are_sets_of_points_without_edges():
    rows = [np.arange(6.0).reshape(3, 2), torch.ones(1, 2), [[4, 5]], np.zeros((0, 2))]
    found = as_graphs(rows)
    assert found.sizes.tolist() == [3, 1, 1, 0]
    assert found.num_edges == 0
    assert found.attributes.tolist() == [[0, 1], [2, 3], [4, 5], [1, 1], [4, 5]]
    assert len(as_graphs(np.zeros((5, 3, 2)))) == 5


def test_smiles_are_molecules(tmp_path):
    pytest.importorskip("rdkit")
    smiles = ["C" * (k + 1) + ("O" if k % 2 else "") for k in range(12)]
    found = as_graphs(smiles)
    assert found.sizes.tolist() == [k + 1 + k % 2 for k in range(12)]
    made = lfds.LFDSClassifier(**FAST).fit(smiles, ["alkane", "alcohol"] * 6)
    rows = "\n".join(smiles)
    (tmp_path / "molecules.csv").write_text(f"smiles\n{rows}\n")
    from_file = lfds.data.read_any(tmp_path / "molecules.csv")
    # Files are read with their nodes in random order.
    expected = made.predict_proba(from_file)
    np.testing.assert_allclose(made.predict_proba(smiles), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [("nonsense", r"syntax error at position \d"), ("", "it is empty"), (7, "it is no text")],
)
def test_an_invalid_smiles_is_named(wrong, reason):
    pytest.importorskip("rdkit")
    message = rf"^graph 1: invalid SMILES '{wrong}': {reason}; correct it or"
    with pytest.raises(DataError, match=message):
        as_graphs(["CCO", wrong])


def test_features_of_the_user_replace_attributes_and_labels():
    own = graphs().with_features(torch.randn(graphs().num_nodes, 3))
    found = as_graphs(own)
    assert torch.equal(found.attributes, own.x)
    assert found.labels.shape[1] == 0


def test_targets_of_the_graphs_are_read_or_ignored():
    bad = [Data(x=torch.ones(2, 1), y=torch.tensor([float("nan")])) for _ in range(3)]
    assert len(as_graphs(bad, targets=False)) == 3
    with pytest.raises(DataError, match="finite"):
        as_graphs(bad)
    some = [nx.path_graph(2), nx.path_graph(2)]
    some[0].graph["y"] = "a"
    assert len(as_graphs(some, targets=False)) == 2
    with pytest.raises(DataError, match='lacks graph\\["y"\\]'):
        as_graphs(some)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "graphs: needs at least one graph, and the list is empty"),
        (lambda: graphs()[[]], "graphs: needs at least one graph, and the set is empty"),
        ("graphs.jsonl", "needs graphs, not the path 'graphs.jsonl'; read it with"),
        (Path("graphs.jsonl"), "needs graphs, not the path"),
        (nx.path_graph(3), r"put a single one in \[ \]"),
        (Data(x=torch.ones(1, 1)), r"put a single one in \[ \]"),
        (7, "needs a GraphSet or a list of graphs, not int"),
        (
            [np.ones(3)],
            r"graph 0: needs a PyG .* array \[n, d\] of numbers, .*not ndarray",
        ),
        ([np.ones((2, 2)), "x"], "graph 1: needs a PyG or NetworkX graph"),
        ([np.array([["a", "b"]])], "graph 0: needs a PyG or NetworkX graph"),
        ([np.ones((2, 2)), np.ones((2, 3))], "set 1: needs 2 columns as set 0 has, not 3"),
        ([np.array([[np.nan, 1.0]])], "attributes: row 0 holds .* finite"),
        (lambda: [graphs(), 3], "set 1: needs a GraphSet, not int"),
        (lambda: [Data(x=torch.ones(1, 1)), 3], "graph 1: needs torch_geometric.data.Data"),
    ],
)
def test_what_is_not_a_list_of_graphs_is_refused(given, message):
    with pytest.raises(DataError, match=message):
        as_graphs(given() if isinstance(given, FunctionType) else given)


def test_name_and_classes_are_kept():
    assert as_graphs(replace(graphs(), name="mine")).name == "mine"
    assert as_graphs(graphs()).classes == tuple(sorted(set(labels())))


def test_graphs_with_other_widths_are_refused():
    encoder = Encoder().fit(graphs())
    check_features(graphs(), encoder, stacklevel=1)
    wider = replace(graphs(), attributes=torch.ones(graphs().num_nodes, 3))
    with pytest.raises(
        DataError, match=r"node attributes: the model was fitted on 1 .* these graphs have 3"
    ):
        check_features(wider, encoder, stacklevel=1)
    bare = replace(graphs(), labels=graphs().labels[:, :0], label_values=())
    with pytest.raises(DataError, match=r"node labels: .* on 1 .* have 0"):
        check_features(bare, encoder, stacklevel=1)


def test_unused_node_data_may_have_any_width():
    encoder = Encoder(EncodingSettings(attributes=False)).fit(graphs())
    wider = replace(graphs(), attributes=torch.ones(graphs().num_nodes, 3))
    check_features(wider, encoder, stacklevel=1)


def test_unseen_labels_are_counted_and_listed():
    data = graphs()
    encoder = Encoder().fit(data)
    changed = data.labels.clone()
    changed[:3, 0] = torch.tensor([77, 78, 77])
    message = r"^3 nodes have a label that was never seen in training \(column 0: 77, 78\)"
    with pytest.warns(UnseenLabelsWarning, match=message):
        check_features(replace(data, labels=changed), encoder, stacklevel=1)
    with pytest.warns(UnseenLabelsWarning, match=r", \.\.\.\)"):
        check_features(replace(data, labels=data.labels + 100), encoder, stacklevel=1)


def test_unseen_labels_of_all_columns_are_named_as_chemists_call_them():
    pytest.importorskip("rdkit")
    encoder = Encoder(edges=True).fit(as_graphs(["CCO", "CN", "CC=C"]))
    given = as_graphs(["CC[Na]", "C/C=C/C", "C[C@H](N)O"])
    with pytest.warns(UserWarning, match="never seen") as caught:
        check_features(given, encoder, stacklevel=1)
    atoms, bonds = (str(one.message) for one in caught)
    assert "a label that was never seen in training (element: Na; degree" in atoms
    assert "stereo: R, E)" in atoms
    assert "(stereo: E)" in bonds
