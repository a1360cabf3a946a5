import networkx as nx
import numpy as np
import pytest
import scipy.sparse
import torch
from torch.testing import assert_close

import lfds

PATH = torch.tensor([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_the_adjacency_of_a_path():
    assert_close(lfds.Sequence(3).adjacency, PATH)


@pytest.mark.parametrize(
    "structure", [lfds.Sequence(2), lfds.Sequence(6), lfds.Loop(3), lfds.Loop(7)]
)
def test_neighbours_are_those_of_the_adjacency(structure):
    slots = torch.randn(4, structure.num_slots, 3)
    assert_close(structure.sum_of_neighbours(slots), structure.adjacency @ slots)


def test_a_loop_is_a_closed_sequence():
    closing = lfds.Loop(5).adjacency - lfds.Sequence(5).adjacency
    assert closing.nonzero().tolist() == [[0, 4], [4, 0]]


def test_a_sequence_is_not_equivariant_to_rotations():
    sequence = lfds.Sequence(6)
    layer = sequence.layer(2).eval()
    slots = torch.randn(1, 6, 2)
    rotated = layer(slots.roll(1, dims=1), sequence)
    assert not torch.allclose(rotated, layer(slots, sequence).roll(1, dims=1))


@pytest.mark.parametrize("structure", [lfds.Sequence(6), lfds.Loop(7)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_signal_is_slots_and_adjacency_of_their_dtype(structure, dtype):
    slots = torch.randn(2, structure.num_slots, 3).to(dtype)
    same, adjacency = structure.signal(slots)
    assert torch.equal(same, slots)
    assert adjacency.dtype == dtype
    assert_close(adjacency.float(), structure.adjacency)


@pytest.mark.parametrize(
    "adjacency",
    [
        PATH,
        PATH.double(),
        PATH.bool(),
        PATH.to_sparse(),
        PATH.numpy(),
        PATH.int().tolist(),
        scipy.sparse.csr_matrix(PATH.numpy()),
        scipy.sparse.coo_array(PATH.numpy()),
        nx.path_graph(3),
    ],
    ids=["float", "double", "bool", "sparse", "numpy", "list", "csr_matrix", "coo_array", "nx"],
)
def test_adjacency_in_any_form(adjacency):
    graph = lfds.LatentGraph(adjacency)
    assert_close(graph.adjacency, PATH)
    assert repr(graph) == "LatentGraph(3 slots, 2 edges)"


def test_a_loop_given_as_a_graph_pools_like_a_loop():
    loop = lfds.LFDSPool(4, lfds.Loop(6)).eval()
    graph = lfds.LFDSPool(4, lfds.LatentGraph(nx.cycle_graph(6))).eval()
    graph.load_state_dict(loop.state_dict(), strict=False)
    x = torch.randn(9, 4)
    assert_close(graph(x), loop(x))


def test_edge_weights_of_networkx():
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=2.5)
    assert lfds.LatentGraph(graph).adjacency.tolist() == [[0, 2.5], [2.5, 0]]


def test_a_normalized_graph_aggregates_by_the_mean():
    torus = lfds.LatentGraph(nx.grid_2d_graph(3, 3, periodic=True), normalized=True)
    assert_close(torus.sum_of_neighbours(torch.ones(1, 9, 2)), torch.ones(1, 9, 2))
    lonely = lfds.LatentGraph(torch.zeros(3, 3), normalized=True)
    assert_close(lonely.sum_of_neighbours(torch.ones(1, 3, 2)), torch.zeros(1, 3, 2))


@pytest.mark.plain
@pytest.mark.parametrize(
    ("adjacency", "error", "message"),
    [
        (torch.ones(3, 4), ValueError, r"square \[slots, slots\], got \[3, 4\]"),
        (torch.ones(3), ValueError, r"square.*got \[3\]"),
        (torch.tensor([[0.0, -1], [-1, 0]]), ValueError, r"negative, got -1.0 at \(0, 1\)"),
        (
            torch.tensor([[0.0, 1, 0], [0, 0, 1], [0, 1, 0]]),
            ValueError,
            r"symmetric, but \(0, 1\) is 1.0 and \(1, 0\) is 0.0.*\(A \+ A\.T\) / 2",
        ),
        (nx.DiGraph([(0, 1)]), ValueError, "symmetric"),
        (torch.tensor([[0.0, torch.nan], [torch.nan, 0]]), ValueError, "finite"),
        (torch.zeros(1, 1), ValueError, "at least 2"),
        (torch.ones(2, 2) * 1j, TypeError, r"real, got complex.*\.abs\(\)"),
        (nx.Graph([("a", "b", {"weight": "x"})]), TypeError, "numbers as edge weights"),
        ([[0, 1], [1]], TypeError, "a square of numbers"),
        ("loop", TypeError, "a square of numbers: a tensor, a NumPy array"),
        (np.array([["a", "b"]] * 2), TypeError, "got ndarray"),
    ],
)
def test_invalid_adjacencies_are_refused(adjacency, error, message):
    with pytest.raises(error, match=message):
        lfds.LatentGraph(adjacency)


def test_a_loop_needs_three_slots():
    with pytest.raises(ValueError, match=r"at least 3.*use Sequence\(2\)"):
        lfds.Loop(2)


@pytest.mark.plain
def test_the_number_of_slots_must_be_an_integer():
    with pytest.raises(TypeError, match=r"must be an integer, got 6\.0"):
        lfds.Loop(6.0)
