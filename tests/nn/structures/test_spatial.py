import copy

import pytest
import torch
from torch.testing import assert_close

from lfds.nn.accel.bags import arrived
from lfds.nn.structures import LatentGraph, LearnedGraph, Loop, Sequence


@pytest.mark.parametrize("structure", [Loop(5), Sequence(5)])
def test_sums_over_many_graphs_are_those_over_each(structure):
    own, sent = torch.randn(2, 3, 5, 4)
    both = torch.cat([own, sent], dim=2).flatten(0, 1)
    found = arrived(both, structure.bags(3)).view(3, 5, 4)
    assert_close(found, own + structure.sum_of_neighbours(sent))
    assert_close(found, own + structure.adjacency @ sent)


@pytest.mark.parametrize("structure", [LearnedGraph(5), LatentGraph(torch.ones(5, 5))])
def test_dense_structures_have_no_list_of_sums(structure):
    assert structure.bags(3) is None


@pytest.mark.parametrize("structure", [Loop(5), Sequence(5)])
def test_a_layer_in_one_piece_is_the_layer_in_pieces(structure, monkeypatch):
    whole = structure.layer(4).double()
    pieces = copy.deepcopy(whole)
    slots = torch.randn(3, 5, 4, dtype=torch.float64, requires_grad=True)
    found = whole(slots, structure)
    (pull,) = torch.autograd.grad(found.square().sum(), slots)
    monkeypatch.setattr("lfds.nn.structures.spatial.can_fuse", lambda *_: False)
    expected = pieces(slots, structure)
    assert_close(found, expected)
    assert_close(pull, torch.autograd.grad(expected.square().sum(), slots)[0])
    for mine, theirs in zip(whole.buffers(), pieces.buffers(), strict=True):
        assert_close(mine, theirs)
