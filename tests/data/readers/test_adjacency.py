"""Pairs of features and adjacency, in every form that people have them in."""

import numpy as np
import pytest
import torch
from scipy import sparse

import lfds
from lfds.data.errors import DataError
from lfds.data.readers.adjacency import graphs_from_adjacency
from tests.estimator.small import FAST

ONE = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
TWO = np.array([[0, 1], [1, 0]])
FEATURES = [np.arange(6.0).reshape(3, 2), np.ones((2, 2))]


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        sparse.csr_matrix,
        sparse.coo_array,
        torch.tensor,
        lambda a: torch.tensor(a).to_sparse(),
        lambda a: torch.tensor(a).to_sparse_csr(),
        lambda a: a.astype(bool),
        lambda a: a.astype(np.float32),
    ],
)
@pytest.mark.filterwarnings("ignore:Sparse CSR:UserWarning")
def test_all_forms_of_a_matrix_are_the_same_graphs(form):
    graphs = graphs_from_adjacency(
        [(x, form(a)) for x, a in zip(FEATURES, (ONE, TWO), strict=True)]
    )
    assert graphs.sizes.tolist() == [3, 2]
    pairs = sorted(zip(*graphs.edge_index.tolist(), strict=True))
    assert pairs == [(0, 1), (1, 0), (1, 2), (2, 1), (3, 4), (4, 3)]
    assert graphs.attributes.tolist() == np.concatenate(FEATURES).tolist()
    assert graphs.width("edge_attributes") == 0


def test_other_entries_than_ones_are_attributes_of_edges():
    graphs = graphs_from_adjacency([(None, np.array([[0, 2.5], [0, 0]])), (None, TWO)])
    assert graphs.width("attributes") == 0
    first = graphs[0]
    assert (first.num_edges, first.edge_attributes.tolist()) == (1, [[2.5]])
    assert graphs[1].edge_attributes.tolist() == [[1.0], [1.0]]


def test_estimators_take_pairs():
    random = np.random.default_rng(0)
    rings = [(random.normal(size=(4, 2)), np.roll(np.eye(4), k % 2 + 1, axis=1)) for k in range(24)]
    model = lfds.LFDSClassifier(**FAST).fit(rings, [k % 2 for k in range(24)])
    assert model.predict(rings).shape == (24,)
    named = lfds.LFDSClassifier(**FAST).fit(["C" * (k % 5 + 1) for k in range(24)], [0, 1] * 12)
    assert named.predict(["CCC"]).shape == (1,)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(np.ones((3, 2)), TWO)], "graph 0: needs one row of numbers for each of 2 nodes"),
        ([(None, np.ones((3, 2)))], r"graph 0: needs a square adjacency, not shape \[3, 2\]"),
        ([(None, TWO), np.ones((2, 2))], "graph 1: needs a pair"),
        ([(np.ones((2, 1)), TWO), (None, TWO)], "graph 1: has no features, and others have"),
        ([(np.ones((2, 1)), TWO), (np.ones((2, 3)), TWO)], "graph 1: needs 1 columns of features"),
        ([(None, np.full((2, 2), np.nan))], "graph 0: needs finite numbers in its adjacency"),
        ([(None, np.array([["a", "b"], ["c", "d"]]))], "graph 0: needs finite numbers"),
    ],
)
def test_invalid_pairs_are_one_line(pairs, message):
    with pytest.raises(DataError, match=message) as caught:
        lfds.LFDSClassifier().fit(pairs, [0] * len(pairs))
    assert "\n" not in str(caught.value)
