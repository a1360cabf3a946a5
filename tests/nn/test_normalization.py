"""Normalization of nodes: by the batch in training, by running statistics in evaluation."""

import pytest
import torch
from torch.testing import assert_close

import lfds
from lfds.nn.input_checks import NotFiniteError
from lfds.nn.normalization import ChannelNorm
from lfds.testing import assert_batch_independent, assert_matches_reference

PTR = torch.tensor([0, 4, 4, 9])


def spread(scale=7.0, shift=3.0):
    """Nodes far from unit variance."""
    return scale * torch.randn(9, 4, generator=torch.Generator().manual_seed(0)) + shift


def trained(**options):
    """A pooling with the running statistics of such nodes."""
    pool = lfds.LFDSPool(4, lfds.Loop(5), **options)
    for _ in range(50):
        pool(spread(), ptr=PTR)
    return pool.eval()


def test_by_the_batch_in_training_and_by_running_statistics_in_evaluation():
    norm, x = ChannelNorm(4), spread()
    normalized = norm(x)
    assert_close(normalized.mean(dim=0), torch.zeros(4), atol=1e-5, rtol=0)
    assert_close(normalized.var(dim=0, correction=0), torch.ones(4), atol=1e-4, rtol=0)
    for _ in range(200):
        norm(x)
    # The running variance is that of a sample.
    expected = (x - x.mean(dim=0)) / x.std(dim=0)
    assert_close(norm.eval()(x), expected, atol=1e-4, rtol=1e-4)


def test_a_single_node_is_normalized_by_running_statistics():
    norm = ChannelNorm(4)
    norm(spread())
    before = norm.norm.running_mean.clone()
    alone = norm(spread()[:1])
    assert norm(spread()[:0]).shape == (0, 4)
    assert_close(norm.norm.running_mean, before)
    assert_close(alone, norm.eval()(spread()[:1]))


@pytest.mark.parametrize("readout", ["max", "max+mean", "max+weighted"])
@pytest.mark.parametrize("blend", [False, True])
def test_trained_statistics_match_the_reference(readout, blend):
    assert_matches_reference(trained(readout=readout, blend=blend))


def test_statistics_of_the_batch_in_evaluation_are_noticed(monkeypatch):
    pool = trained()
    assert_batch_independent(pool)
    monkeypatch.setattr(
        ChannelNorm, "forward", lambda self, x: (x - x.mean(dim=0)) / x.var(dim=0).add(1).sqrt()
    )
    with pytest.raises(AssertionError, match="depends on its batch"):
        assert_batch_independent(pool)


def test_shares_do_not_depend_on_the_scale_of_the_features():
    small, large = (lfds.LFDSPool(4, lfds.Loop(5), anchors=torch.eye(5, 4)) for _ in range(2))
    assert_close(small.shares(spread(0.5, 0.0)), large.shares(spread(50.0, 9.0)))


def test_shares_and_activations_are_of_normalized_nodes():
    pool, plain = trained(), lfds.LFDSPool(4, lfds.Loop(5), node_norm=False).eval()
    plain.load_state_dict(pool.state_dict(), strict=False)
    normalized = pool.node_norm(spread())
    assert_close(pool.shares(spread(), ptr=PTR), plain.shares(normalized, ptr=PTR))
    assert_close(pool.activations(spread(), ptr=PTR), plain.activations(normalized, ptr=PTR))
    assert_close(pool(spread(), ptr=PTR), plain(normalized, ptr=PTR))


def test_a_value_that_is_not_finite_leaves_the_statistics_alone():
    pool = trained().train()
    before = pool.node_norm.norm.running_mean.clone()
    x = spread()
    x[6, 2] = torch.nan
    with pytest.raises(NotFiniteError, match=r"node 6, channel 2 \(graph 2\); 1 of 9"):
        pool(x, ptr=PTR)
    assert_close(pool.node_norm.norm.running_mean, before)


def test_a_value_that_is_not_finite_while_statistics_are_recalibrated():
    """Then only the batch normalization is in training mode."""
    pool = trained()
    pool.node_norm.train()
    x = spread()
    x[6, 2] = torch.inf
    with pytest.raises(NotFiniteError, match="1 of 9 nodes"):
        pool(x, ptr=PTR)
    assert pool.node_norm.norm.running_mean.isfinite().all()


@pytest.mark.parametrize(("dtype", "scale"), [(torch.float32, 1e20), (torch.float16, 900.0)])
def test_a_variance_that_overflows_is_refused_before_it_is_stored(dtype, scale):
    pool = trained().to(dtype).train()
    with pytest.raises(NotFiniteError, match=r"variance .* overflows .* wider dtype"):
        pool(spread(scale).to(dtype), ptr=PTR)
    assert pool.node_norm.norm.running_var.isfinite().all()
    assert pool(spread().to(dtype), ptr=PTR).isfinite().all()


def test_reset_forgets_the_statistics():
    pool = trained()
    pool.reset_parameters()
    assert not pool.node_norm.norm.running_mean.any()
