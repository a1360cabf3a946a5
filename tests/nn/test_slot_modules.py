"""Slot dropout, blend, counts and slot weights, each against its equation.

That the slow reference notices each of them done wrong is tested in `tests/testing`.
"""

import math

import pytest
import torch
from tests.nn.cases import STRUCTURES
from torch.testing import assert_close

import lfds
from lfds.nn.slot_modules import (
    MaxBlend,
    SlotCounts,
    SlotDropout,
    SlotWeights,
    drop_slots,
)

PTR = torch.tensor([0, 4, 4, 9])


class TestDropout:
    def test_whole_slots_are_dropped_and_the_others_are_not_scaled(self):
        slots = torch.rand(200, 10, 3) + 1
        found = drop_slots(slots, 0.4)
        dropped = (found == 0).all(dim=-1)
        assert torch.equal(found[~dropped], slots[~dropped])
        assert 0.36 < float(dropped.float().mean()) < 0.44
        assert len({tuple(row.tolist()) for row in dropped}) > 100  # each graph draws its own

    def test_in_training_only(self):
        dropout, slots = SlotDropout(0.5), torch.ones(4, 8, 2)
        assert (dropout(slots) == 0).any()
        assert torch.equal(dropout.eval()(slots), slots)
        assert torch.equal(SlotDropout(0.0)(slots), slots)

    def test_the_pooling_drops_slots_in_training_only(self):
        pool, x = lfds.LFDSPool.paper(4), torch.randn(7, 4)
        assert not torch.allclose(pool(x), pool(x))
        pool.eval()
        assert torch.equal(pool(x), pool(x))

    @pytest.mark.parametrize("p", [-0.1, 1.0, float("nan")])
    def test_impossible_probabilities_are_refused(self, p):
        with pytest.raises(ValueError, match="slot_dropout must be at least 0 and below 1"):
            SlotDropout(p)


class TestBlend:
    def test_equation(self):
        blend = MaxBlend()
        with torch.no_grad():
            blend.logarithms.copy_(torch.tensor([0.5, -1.0]))
        slots, x_max = torch.randn(3, 5, 4), torch.randn(3, 4)
        found = blend(slots, x_max)
        for graph in range(3):
            for slot in range(5):
                expected = math.exp(0.5) * slots[graph, slot] + math.exp(-1.0) * x_max[graph]
                assert_close(found[graph, slot], expected)

    def test_factors_start_at_one_and_stay_positive(self):
        blend = MaxBlend()
        assert blend.factors.tolist() == [1.0, 1.0]
        with torch.no_grad():
            blend.logarithms.fill_(-30.0)
        assert (blend.factors > 0).all()
        blend.reset_parameters()
        assert blend.factors.tolist() == [1.0, 1.0]

    def test_the_pooling_adds_the_maxima_of_the_graph(self):
        options = {"node_norm": False, "counts": False}
        plain = lfds.LFDSPool(4, lfds.Loop(5), **options)
        assert plain.blend is None
        blended = lfds.LFDSPool(4, lfds.Loop(5), anchors=plain.anchors, blend=True, **options)
        x = torch.randn(7, 4)
        batch = lfds.nn.ops.ragged.ragged(x)
        assert_close(blended.place(batch)[0], plain.place(batch)[0] + x.amax(dim=0))


class TestCounts:
    def test_equation(self):
        counts = SlotCounts(4)
        torch.nn.init.normal_(counts.direction)
        slots, mass = torch.randn(2, 3, 4), torch.rand(2, 3) * 9
        found = counts(slots, mass)
        for graph in range(2):
            for slot in range(3):
                added = torch.log(1 + mass[graph, slot]) * counts.direction
                assert_close(found[graph, slot], slots[graph, slot] + added)

    def test_they_start_at_zero_and_are_learned(self):
        pool = lfds.LFDSPool(4, lfds.Loop(3), reduction="mass")
        assert not pool.counts.direction.any()
        pool(torch.randn(9, 4), ptr=PTR).square().sum().backward()
        assert pool.counts.direction.grad.any()
        torch.nn.init.ones_(pool.counts.direction)
        pool.reset_parameters()
        assert not pool.counts.direction.any()

    @pytest.mark.parametrize("counts", [True, False])
    def test_a_mean_distinguishes_numbers_of_nodes_only_with_counts(self, counts):
        x = torch.randn(1, 4).repeat(6, 1)  # the same node, twice and four times
        pool = lfds.LFDSPool(4, lfds.Loop(3), counts=counts).eval()
        if counts:
            torch.nn.init.ones_(pool.counts.direction)
        few, many = pool(x, ptr=torch.tensor([0, 2, 6]))
        assert torch.allclose(few, many) != counts


class TestSlotWeights:
    def test_equation(self):
        read, slots = SlotWeights(3, 4), torch.randn(2, 3, 4)
        found = read(slots)
        for graph in range(2):
            for channel in range(4):
                own = sum(read.weights[k, channel] * slots[graph, k, channel] for k in range(3))
                assert_close(found[graph, channel], own)

    def test_sums_have_unit_variance_at_first(self):
        found = SlotWeights(64, 500)(torch.randn(50, 64, 500))
        assert found.std().item() == pytest.approx(1.0, abs=0.05)

    @pytest.mark.parametrize("name", STRUCTURES)
    def test_there_are_weights_for_every_layer_and_they_learn(self, name):
        pool = lfds.LFDSPool(4, STRUCTURES[name](), depth=3)
        assert pool.out_channels == 24
        pool(torch.randn(9, 4), ptr=PTR).square().sum().backward()
        assert len(pool.weights) == 3
        assert all(part.weights.grad.abs().sum() > 0 for part in pool.weights)

    def test_they_distinguish_slots_and_maxima_do_not(self):
        pool = lfds.LFDSPool(4, lfds.Loop(5)).eval()
        slots = torch.randn(1, 5, 4)
        largest, weighted = pool.read(slots, 0)
        same, other = pool.read(slots.roll(2, dims=1), 0)
        assert_close(largest, same)
        assert not torch.allclose(weighted, other)

    def test_reset_draws_them_anew(self):
        pool = lfds.LFDSPool(4, lfds.Loop(5))
        before = pool.weights[0].weights.detach().clone()
        pool.reset_parameters()
        assert not torch.equal(pool.weights[0].weights, before)
