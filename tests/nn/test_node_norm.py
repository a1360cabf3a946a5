import pytest
import torch
from torch.testing import assert_close

import lfds
from lfds.nn.input_checks import NotFiniteError
from lfds.nn.slot_modules import NodeNorm
from lfds.testing import assert_agrees_with_reference, assert_company_free, assert_order_free

SIZES = torch.tensor([0, 4, 4, 9])


def spread(scale=7.0, shift=3.0):
    return scale * torch.randn(9, 4, generator=torch.Generator().manual_seed(0)) + shift


def lived(**options):
    """A pool whose running statistics are not those of birth."""
    pool = lfds.LFDSPool(4, lfds.Loop(5), node_norm=True, **options)
    for _ in range(50):
        pool(spread(), ptr=SIZES)
    return pool.eval()


def test_nodes_are_normed_by_their_batch_in_training_and_by_what_was_seen_afterwards():
    norm, x = NodeNorm(4), spread()
    normed = norm(x)
    assert_close(normed.mean(dim=0), torch.zeros(4), atol=1e-5, rtol=0)
    assert_close(normed.var(dim=0, correction=0), torch.ones(4), atol=1e-4, rtol=0)
    for _ in range(200):
        norm(x)
    # What is kept for evaluation is the variance of a sample.
    expected = (x - x.mean(dim=0)) / x.std(dim=0)
    assert_close(norm.eval()(x), expected, atol=1e-4, rtol=1e-4)


def test_a_single_node_and_none_are_normed_by_what_was_seen():
    norm = NodeNorm(4)
    norm(spread())
    before = norm.norm.running_mean.clone()
    alone = norm(spread()[:1])
    assert norm(spread()[:0]).shape == (0, 4)
    assert_close(norm.norm.running_mean, before)
    assert_close(alone, norm.eval()(spread()[:1]))


@pytest.mark.parametrize("readout", ["max", "max+mean", "max+weighted"])
@pytest.mark.parametrize("blend", [False, True])
def test_normed_pools_keep_the_laws(readout, blend):
    pool = lived(readout=readout, blend=blend, counts=True, reduction="mean")
    assert_agrees_with_reference(pool)
    assert_order_free(pool)
    assert_company_free(pool)


def test_the_reference_catches_nodes_that_are_not_normed(monkeypatch):
    pool = lived()
    monkeypatch.setattr(NodeNorm, "forward", lambda self, x: x)
    with pytest.raises(AssertionError, match="not what the equations say"):
        assert_agrees_with_reference(pool)


def test_the_law_of_company_catches_a_norm_by_the_batch_at_hand(monkeypatch):
    pool = lived()
    monkeypatch.setattr(
        NodeNorm, "forward", lambda self, x: (x - x.mean(dim=0)) / x.var(dim=0).add(1).sqrt()
    )
    with pytest.raises(AssertionError):
        assert_company_free(pool)


def test_where_nodes_land_does_not_depend_on_their_scale():
    small, large = (
        lfds.LFDSPool(4, lfds.Loop(5), anchors=torch.eye(5, 4), node_norm=True) for _ in range(2)
    )
    assert_close(small.shares(spread(0.5, 0.0)), large.shares(spread(50.0, 9.0)))


def test_shares_and_activations_are_of_the_normed_nodes():
    pool, plain = lived(), lfds.LFDSPool(4, lfds.Loop(5)).eval()
    plain.load_state_dict(pool.state_dict(), strict=False)
    normed = pool.node_norm(spread())
    assert_close(pool.shares(spread(), ptr=SIZES), plain.shares(normed, ptr=SIZES))
    assert_close(pool.activations(spread(), ptr=SIZES), plain.activations(normed, ptr=SIZES))
    assert_close(pool(spread(), ptr=SIZES), plain(normed, ptr=SIZES))


def test_a_bad_value_is_named_and_leaves_the_statistics_as_they_were():
    pool = lived().train()
    before = pool.node_norm.norm.running_mean.clone()
    x = spread()
    x[6, 2] = torch.nan
    with pytest.raises(NotFiniteError, match=r"node 6, channel 2 \(graph 2\); 1 of 9"):
        pool(x, ptr=SIZES)
    assert_close(pool.node_norm.norm.running_mean, before)


def test_a_bad_value_is_named_where_the_norm_alone_learns():
    """As when statistics are measured anew: the pool is judged, its norms learn."""
    pool = lived()
    pool.node_norm.train()
    x = spread()
    x[6, 2] = torch.inf
    with pytest.raises(NotFiniteError, match="1 of 9 nodes"):
        pool(x, ptr=SIZES)
    assert pool.node_norm.norm.running_mean.isfinite().all()


@pytest.mark.parametrize(("dtype", "scale"), [(torch.float32, 1e20), (torch.float16, 900.0)])
def test_a_variance_too_large_for_the_precision_is_refused_before_it_is_kept(dtype, scale):
    pool = lived().to(dtype).train()
    with pytest.raises(NotFiniteError, match=r"variance of its channels overflows .* wider dtype"):
        pool(spread(scale).to(dtype), ptr=SIZES)
    assert pool.node_norm.norm.running_var.isfinite().all()
    assert pool(spread().to(dtype), ptr=SIZES).isfinite().all()


def test_reset_forgets_the_statistics():
    pool = lived()
    pool.reset_parameters()
    assert not pool.node_norm.norm.running_mean.any()


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_other_precisions(dtype):
    pool = lfds.LFDSPool(4, lfds.Loop(5), node_norm=True, readout="max+weighted").to(dtype)
    vectors = pool(spread().to(dtype), ptr=SIZES)
    vectors.float().square().sum().backward()
    assert vectors.dtype == dtype
    assert vectors.isfinite().all()


def test_autocast():
    pool = lfds.LFDSPool(4, lfds.Loop(5), node_norm=True, readout="max+weighted")
    with torch.autocast("cpu", torch.bfloat16):
        assert pool(spread(), ptr=SIZES).isfinite().all()


def test_it_is_shown():
    assert repr(lived(readout="max+mean")).endswith(", readout='max+mean', node_norm=True)")
    assert "node_norm" not in repr(lfds.LFDSPool(4))
