import pytest
import torch
from torch import nn
from torch.testing import assert_close

import lfds
from lfds.nn import ANCHORS, FixedAnchors, GeneratedAnchors, MixtureAnchors, SmoothAnchors
from lfds.nn.pool import make_anchors


@pytest.mark.parametrize("name", ANCHORS)
def test_reset_draws_anchors_of_length_about_one(name):
    anchors = make_anchors(name, 16, lfds.Loop(8))
    assert type(anchors) is ANCHORS[name]
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


def neighbour_similarity(anchors):
    """Mean cosine of the anchors of neighbouring slots of a loop."""
    rows = nn.functional.normalize(anchors().detach(), dim=-1)
    return float((rows * rows.roll(1, dims=0)).sum(dim=-1).mean())


def test_smooth_anchors_are_similar_in_neighbouring_slots():
    torch.manual_seed(0)
    loop = lfds.Loop(16)
    found = [
        neighbour_similarity(SmoothAnchors(64, loop.laplacian(), smoothness))
        for smoothness in (0.0, 1.0, 5.0)
    ]
    assert abs(found[0]) < 0.2 < 0.4 < found[1] < found[2]


def test_smooth_anchors_are_the_solution_of_a_diffusion():
    laplacian = lfds.Image(3, 4).laplacian().double()
    anchors = SmoothAnchors(5, laplacian, 2.0).double()
    smooth = torch.linalg.solve(torch.eye(12).double() + 2.0 * laplacian, anchors.free)
    found = anchors()
    assert_close(found / found.norm(), smooth / smooth.norm(), rtol=1e-4, atol=1e-5)


def test_smooth_anchors_do_not_depend_on_the_choice_of_eigenvectors():
    anchors = SmoothAnchors(4, lfds.Loop(8).laplacian())
    before = anchors()
    pair = anchors.modes[:, 1:3]  # of the same eigenvalue
    turned = torch.stack([pair[:, 0] - pair[:, 1], pair[:, 0] + pair[:, 1]], dim=1) / 2**0.5
    anchors.modes[:, 1:3] = turned
    anchors.modes[:, 5] *= -1
    assert_close(anchors(), before)


def test_anchors_are_fixed_where_neighbours_are_learned():
    for structure in (lfds.LearnedGraph(9), lfds.LearnedSpectrum(9)):
        assert type(make_anchors("smooth", 4, structure)) is FixedAnchors


@pytest.mark.parametrize("smoothness", [-1.0, float("inf"), float("nan")])
def test_impossible_smoothness_is_refused(smoothness):
    with pytest.raises(ValueError, match="smoothness must be finite"):
        lfds.LFDSPool(4, "loop", anchors="smooth", smoothness=smoothness)


def test_a_misspelt_smoothness_is_refused():
    with pytest.raises(ValueError, match=r"one of learned, got 'learnt'"):
        lfds.LFDSPool(4, "loop", anchors="smooth", smoothness="learnt")


def test_learned_smoothness_starts_at_one_and_is_trained():
    torch.manual_seed(0)
    fixed = lfds.LFDSPool(4, "loop", anchors="smooth")
    learned = lfds.LFDSPool(4, "loop", anchors="smooth", smoothness="learned")
    learned.load_state_dict(fixed.state_dict(), strict=False)
    assert_close(learned.anchors(), fixed.anchors())
    learned(torch.randn(9, 4), torch.arange(9) // 3).square().sum().backward()
    assert learned.anchors.log_smoothness.grad.abs() > 0


def test_smooth_anchors_are_as_long_as_free_ones():
    torch.manual_seed(0)
    anchors = SmoothAnchors(4096, lfds.Image(4, 4).laplacian(), 5.0)
    length = anchors().square().sum(dim=-1).mean()
    assert_close(length, torch.ones(()), rtol=0.1, atol=0)


@pytest.mark.parametrize("smoothness", [0.5, "learned"])
@pytest.mark.parametrize("name", lfds.STRUCTURES)
def test_pools_with_smooth_anchors_match_their_reference(name, smoothness):
    pool = lfds.LFDSPool(4, name, num_slots=9, anchors="smooth", smoothness=smoothness)
    lfds.testing.assert_matches_reference(pool)
    lfds.testing.assert_permutation_invariant(pool)
