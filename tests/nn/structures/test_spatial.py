import copy

import pytest
import torch
from torch.testing import assert_close

from lfds.nn.neighbours import sum_of_neighbours
from lfds.nn.structures import LatentGraph, LearnedGraph, Loop, Sequence


@pytest.mark.parametrize("structure", [Loop(5), Sequence(5)])
def test_edges_of_many_graphs_are_those_of_one(structure):
    slots = torch.randn(3, 5, 4)
    edges = structure.edges(3, slots.device)
    found = sum_of_neighbours(slots.flatten(0, 1), edges).view(3, 5, 4)
    assert_close(found, structure.sum_of_neighbours(slots))
    assert_close(found, structure.adjacency @ slots)


@pytest.mark.parametrize("structure", [LearnedGraph(5), LatentGraph(torch.ones(5, 5))])
def test_dense_structures_have_no_list_of_edges(structure):
    assert structure.edges(3, torch.device("cpu")) is None


@pytest.mark.parametrize("structure", [Loop(5), Sequence(5)])
def test_a_layer_in_one_piece_is_the_layer_in_pieces(structure, monkeypatch):
    whole = structure.layer(4).double()
    pieces = copy.deepcopy(whole)
    slots = torch.randn(3, 5, 4, dtype=torch.float64, requires_grad=True)
    found = whole(slots, structure)
    (pull,) = torch.autograd.grad(found.square().sum(), slots)
    monkeypatch.setattr("lfds.nn.structures.spatial.can_fuse", lambda slots: False)
    expected = pieces(slots, structure)
    assert_close(found, expected)
    assert_close(pull, torch.autograd.grad(expected.square().sum(), slots)[0])
    for mine, theirs in zip(whole.buffers(), pieces.buffers(), strict=True):
        assert_close(mine, theirs)
