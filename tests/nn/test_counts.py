import torch
from torch.testing import assert_close

from lfds.nn import LFDSPool, Loop
from lfds.nn.slot_modules import SlotCounts


def test_counts_are_their_equation():
    counts = SlotCounts(4)
    torch.nn.init.normal_(counts.direction)
    slots, mass = torch.randn(2, 3, 4), torch.rand(2, 3) * 9
    found = counts(slots, mass)
    for graph in range(2):
        for slot in range(3):
            more = torch.log(1 + mass[graph, slot]) * counts.direction
            assert_close(found[graph, slot], slots[graph, slot] + more)


def test_they_start_at_nothing_and_are_learned():
    pool = LFDSPool(4, Loop(3), reduction="mass", counts=True, slot_dropout=0.0)
    assert pool.counts is not None
    assert not pool.counts.direction.any()
    pool(torch.randn(7, 4), ptr=torch.tensor([0, 3, 7])).sum().backward()
    assert pool.counts.direction.grad is not None
    assert pool.counts.direction.grad.any()
    torch.nn.init.ones_(pool.counts.direction)
    pool.reset_parameters()
    assert not pool.counts.direction.any()


def test_with_counts_a_mean_tells_how_many_there_were():
    x = torch.randn(1, 4).repeat(6, 1)
    ptr = torch.tensor([0, 2, 6])  # the same node, twice and four times
    for told in (False, True):
        pool = LFDSPool(4, Loop(3), reduction="mean", counts=told).eval()
        if pool.counts is not None:
            torch.nn.init.ones_(pool.counts.direction)
        few, many = pool(x, ptr=ptr)
        assert (not torch.allclose(few, many)) == told
