import pytest
import torch
from torch import nn
from torch.testing import assert_close

import lfds
from lfds.nn import ANCHORS, FixedAnchors, GeneratedAnchors, MixtureAnchors


@pytest.mark.parametrize("name", ANCHORS)
def test_reset_draws_anchors_of_length_about_one(name):
    anchors = ANCHORS[name](16, 8)
    x_max = torch.randn(3, 16)
    before = anchors(x_max).detach().clone()
    anchors.reset_parameters()
    after = anchors(x_max).detach()
    assert not torch.allclose(before, after)
    assert after.shape[-2:] == (8, 16)
    length = after.norm(dim=-1)
    assert float(length.min()) > 0.2
    assert float(length.max()) < 2


@pytest.mark.parametrize("name", ["generated", "mixture"])
def test_anchors_depend_on_the_graph(name):
    anchors = ANCHORS[name](4, 3)
    own = anchors(torch.stack([torch.zeros(4), torch.full((4,), 5.0)]))
    assert own.shape == (2, 3, 4)
    assert not torch.allclose(own[0], own[1])


def test_mixture_weights_sum_to_one():
    weights = MixtureAnchors(4, 3, candidates=5).weights(torch.randn(7, 4))
    assert weights.shape == (7, 5)
    assert_close(weights.sum(dim=1), torch.ones(7))


def test_anchors_to_start_from():
    start = torch.randn(8, 4)
    anchors = FixedAnchors(4, 8, start)
    assert_close(anchors(), start)
    start.zero_()  # a copy was taken
    with torch.no_grad():
        anchors.matrix.zero_()
    anchors.reset_parameters()
    assert float(anchors().abs().sum().detach()) > 0


@pytest.mark.parametrize("anchors", ANCHORS)
def test_anchors_learn(anchors):
    """Which of two sorts of points is in the majority?"""
    sorts = torch.eye(4)[:2] * 3
    majority = torch.arange(64) % 2
    members = torch.stack([(torch.arange(9) < 6).long() ^ label for label in majority])
    x = (sorts[members] + 0.1 * torch.randn(64, 9, 4)).flatten(0, 1)
    index = torch.arange(64).repeat_interleave(9)
    pool = lfds.LFDSPool(4, lfds.Loop(8), anchors=anchors)
    before = [parameter.detach().clone() for parameter in pool.anchors.parameters()]
    head = nn.Linear(pool.out_channels, 2)
    optimizer = torch.optim.Adam([*pool.parameters(), *head.parameters()], lr=0.01)
    for _ in range(60):
        loss = nn.functional.cross_entropy(head(pool(x, index)), majority)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    accuracy = (head(pool(x, index)).argmax(dim=1) == majority).float().mean()
    assert accuracy > 0.95
    for parameter, start in zip(pool.anchors.parameters(), before, strict=True):
        assert not torch.allclose(parameter, start)


def test_anchors_to_start_from_must_fit():
    for wrong in (torch.ones(4), torch.ones(3, 5), torch.ones(1, 4)):
        with pytest.raises(ValueError, match=r"anchors must be \[3, 4\]"):
            FixedAnchors(4, 3, wrong)


def test_sizes_must_be_positive():
    with pytest.raises(ValueError, match="candidates must be at least 1, got 0"):
        MixtureAnchors(4, 3, candidates=0)
    with pytest.raises(ValueError, match="hidden must be at least 1, got 0"):
        GeneratedAnchors(4, 3, hidden=0)


def test_repr():
    assert repr(FixedAnchors(4, 8)) == "FixedAnchors(8 slots, 4 channels)"
