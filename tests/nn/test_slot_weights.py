import pytest
import torch
from torch.testing import assert_close

import lfds
from lfds.nn.slot_modules import SlotWeights
from lfds.testing import assert_agrees_with_reference, assert_company_free, assert_order_free


def test_weights_are_their_equation():
    read, slots = SlotWeights(3, 4), torch.randn(2, 3, 4)
    found = read(slots)
    for graph in range(2):
        for channel in range(4):
            own = sum(read.weights[k, channel] * slots[graph, k, channel] for k in range(3))
            assert_close(found[graph, channel], own)


def test_they_start_with_sums_that_spread_by_about_one():
    torch.manual_seed(0)
    found = SlotWeights(64, 500)(torch.randn(50, 64, 500))
    assert found.std().item() == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("name", lfds.STRUCTURES)
def test_weighted_readouts_keep_the_laws_and_learn(name):
    pool = lfds.LFDSPool(4, name, readout="max+weighted", depth=3)
    assert pool.out_channels == 24
    assert_agrees_with_reference(pool)
    assert_order_free(pool)
    assert_company_free(pool)
    pool.train()(torch.randn(9, 4), ptr=torch.tensor([0, 4, 9])).square().sum().backward()
    assert all(part.weights.grad.abs().sum() > 0 for part in pool.weights)


def test_the_reference_catches_weights_that_forget_the_slot(monkeypatch):
    pool = lfds.LFDSPool(4, lfds.Loop(5), readout="max+weighted")
    monkeypatch.setattr(
        SlotWeights, "forward", lambda self, slots: slots.mean(dim=1) * self.weights.sum(dim=0)
    )
    with pytest.raises(AssertionError, match="not what the equations say"):
        assert_agrees_with_reference(pool)


def test_maxima_forget_which_slot_it_was_and_weights_do_not():
    pool = lfds.LFDSPool(4, lfds.Loop(5), readout="max+weighted").eval()
    slots = torch.randn(1, 5, 4)
    turned = slots.roll(2, dims=1)
    (largest, weighted), (same, other) = (
        pool.read(given, given.amax(dim=1), 0) for given in (slots, turned)
    )
    assert_close(largest, same)
    assert not torch.allclose(weighted, other)


def test_reset_draws_them_anew():
    pool = lfds.LFDSPool(4, lfds.Loop(5), readout="max+weighted")
    before = pool.weights[0].weights.detach().clone()
    pool.reset_parameters()
    assert not torch.equal(pool.weights[0].weights, before)
