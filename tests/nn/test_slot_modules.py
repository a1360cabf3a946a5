"""Slot dropout, blend, counts, node normalization and slot weights, each against its equation.

That the slow reference notices each of them done wrong is tested in `tests/testing`.
"""

import math

import pytest
import torch
from tests.nn.cases import STRUCTURES
from torch.testing import assert_close

import lfds
from lfds.nn.input_checks import NotFiniteError
from lfds.nn.slot_modules import (
    ChannelNorm,
    MaxBlend,
    SlotCounts,
    SlotDropout,
    SlotWeights,
    drop_slots,
)
from lfds.testing import assert_batch_independent, assert_matches_reference

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


def spread(scale=7.0, shift=3.0):
    """Nodes far from unit variance."""
    return scale * torch.randn(9, 4, generator=torch.Generator().manual_seed(0)) + shift


def trained(**options):
    """A pooling with the running statistics of such nodes."""
    pool = lfds.LFDSPool(4, lfds.Loop(5), **options)
    for _ in range(50):
        pool(spread(), ptr=PTR)
    return pool.eval()


class TestNodeNorm:
    def test_by_the_batch_in_training_and_by_running_statistics_in_evaluation(self):
        norm, x = ChannelNorm(4), spread()
        normalized = norm(x)
        assert_close(normalized.mean(dim=0), torch.zeros(4), atol=1e-5, rtol=0)
        assert_close(normalized.var(dim=0, correction=0), torch.ones(4), atol=1e-4, rtol=0)
        for _ in range(200):
            norm(x)
        # The running variance is that of a sample.
        expected = (x - x.mean(dim=0)) / x.std(dim=0)
        assert_close(norm.eval()(x), expected, atol=1e-4, rtol=1e-4)

    def test_a_single_node_is_normalized_by_running_statistics(self):
        norm = ChannelNorm(4)
        norm(spread())
        before = norm.norm.running_mean.clone()
        alone = norm(spread()[:1])
        assert norm(spread()[:0]).shape == (0, 4)
        assert_close(norm.norm.running_mean, before)
        assert_close(alone, norm.eval()(spread()[:1]))

    @pytest.mark.parametrize("readout", ["max", "max+mean", "max+weighted"])
    @pytest.mark.parametrize("blend", [False, True])
    def test_trained_statistics_match_the_reference(self, readout, blend):
        assert_matches_reference(trained(readout=readout, blend=blend))

    def test_statistics_of_the_batch_in_evaluation_are_noticed(self, monkeypatch):
        pool = trained()
        assert_batch_independent(pool)
        monkeypatch.setattr(
            ChannelNorm, "forward", lambda self, x: (x - x.mean(dim=0)) / x.var(dim=0).add(1).sqrt()
        )
        with pytest.raises(AssertionError, match="depends on its batch"):
            assert_batch_independent(pool)

    def test_shares_do_not_depend_on_the_scale_of_the_features(self):
        small, large = (lfds.LFDSPool(4, lfds.Loop(5), anchors=torch.eye(5, 4)) for _ in range(2))
        assert_close(small.shares(spread(0.5, 0.0)), large.shares(spread(50.0, 9.0)))

    def test_shares_and_activations_are_of_normalized_nodes(self):
        pool, plain = trained(), lfds.LFDSPool(4, lfds.Loop(5), node_norm=False).eval()
        plain.load_state_dict(pool.state_dict(), strict=False)
        normalized = pool.node_norm(spread())
        assert_close(pool.shares(spread(), ptr=PTR), plain.shares(normalized, ptr=PTR))
        assert_close(pool.activations(spread(), ptr=PTR), plain.activations(normalized, ptr=PTR))
        assert_close(pool(spread(), ptr=PTR), plain(normalized, ptr=PTR))

    def test_a_value_that_is_not_finite_leaves_the_statistics_alone(self):
        pool = trained().train()
        before = pool.node_norm.norm.running_mean.clone()
        x = spread()
        x[6, 2] = torch.nan
        with pytest.raises(NotFiniteError, match=r"node 6, channel 2 \(graph 2\); 1 of 9"):
            pool(x, ptr=PTR)
        assert_close(pool.node_norm.norm.running_mean, before)

    def test_a_value_that_is_not_finite_while_statistics_are_recalibrated(self):
        """Then only the batch normalization is in training mode."""
        pool = trained()
        pool.node_norm.train()
        x = spread()
        x[6, 2] = torch.inf
        with pytest.raises(NotFiniteError, match="1 of 9 nodes"):
            pool(x, ptr=PTR)
        assert pool.node_norm.norm.running_mean.isfinite().all()

    @pytest.mark.parametrize(("dtype", "scale"), [(torch.float32, 1e20), (torch.float16, 900.0)])
    def test_a_variance_that_overflows_is_refused_before_it_is_stored(self, dtype, scale):
        pool = trained().to(dtype).train()
        with pytest.raises(NotFiniteError, match=r"variance .* overflows .* wider dtype"):
            pool(spread(scale).to(dtype), ptr=PTR)
        assert pool.node_norm.norm.running_var.isfinite().all()
        assert pool(spread().to(dtype), ptr=PTR).isfinite().all()

    def test_reset_forgets_the_statistics(self):
        pool = trained()
        pool.reset_parameters()
        assert not pool.node_norm.norm.running_mean.any()


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
