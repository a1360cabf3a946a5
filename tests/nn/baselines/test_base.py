import pytest
import torch

from lfds.nn import Edges, GraphPooling


class First(GraphPooling):
    def forward(self, nodes, ptr, edges):
        return nodes[ptr[:-1]]


def test_a_pooling_of_ones_own_owes_no_penalty_and_is_joined_by_the_maxima():
    pool = First(3, 3)
    assert (pool.channels, pool.out_channels, pool.replaces_readout) == (3, 3, False)
    assert pool.penalty() == 0
    edges = Edges.from_rows(torch.zeros(3).long(), torch.zeros(0).long())
    assert pool(torch.eye(3)[:2], torch.tensor([0, 2]), edges).tolist() == [[1, 0, 0]]


def test_the_interface_alone_pools_nothing():
    with pytest.raises(TypeError, match="abstract"):
        GraphPooling(3, 3)
