import copy
import pickle

import pytest
import torch
from torch.testing import assert_close

import lfds


def distance_from_orthonormal(basis):
    return (basis.T @ basis - torch.eye(len(basis), dtype=basis.dtype)).square().sum()


def test_the_penalty_matches_its_equation():
    pool = lfds.LFDSPool(4, lfds.LearnedSpectrum(6, weight=0.5))
    assert pool.penalty().item() < 1e-9  # it starts orthonormal
    with torch.no_grad():
        pool.structure.frame.basis.add_(torch.randn(6, 6))
    assert_close(pool.penalty(), 0.5 * distance_from_orthonormal(pool.structure.basis))


def train(pool, penalized, steps=150):
    """Train the basis towards a matrix that is not orthonormal."""
    target = torch.randn(6, 6)
    optimizer = torch.optim.Adam(pool.structure.parameters(), lr=0.02)
    for _ in range(steps):
        loss = (pool.structure.basis - target).square().mean()
        if penalized:
            loss = loss + pool.penalty()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return distance_from_orthonormal(pool.structure.basis).item() ** 0.5


def test_the_penalty_keeps_the_basis_nearly_orthonormal():
    pool = lfds.LFDSPool(4, lfds.LearnedSpectrum(6))
    assert train(copy.deepcopy(pool), penalized=True) < 0.1
    assert train(copy.deepcopy(pool), penalized=False) > 1


def test_the_exact_basis_stays_orthonormal_without_a_penalty():
    pool = lfds.LFDSPool(4, lfds.LearnedSpectrum(6, orthonormal="exact"))
    start = pool.structure.basis.detach().clone()
    assert pool.penalty().item() == 0
    assert train(pool, penalized=False) < 1e-4
    assert not torch.allclose(start, pool.structure.basis, atol=1e-2)


@pytest.mark.parametrize("orthonormal", ["penalty", "exact"])
def test_copies_pickles_and_resets(orthonormal):
    pool = lfds.LFDSPool(4, lfds.LearnedSpectrum(6, orthonormal=orthonormal)).eval()
    train(pool, penalized=False, steps=5)
    x = torch.randn(9, 4)
    for twin in (copy.deepcopy(pool), pickle.loads(pickle.dumps(pool))):
        assert torch.equal(twin(x), pool(x))
        assert not twin.structure.training
        twin.reset_parameters()
        assert not torch.allclose(twin.structure.basis, pool.structure.basis)
        assert distance_from_orthonormal(twin.structure.basis).item() < 1e-9


def test_a_frozen_basis_is_the_same_basis():
    spectrum = lfds.LearnedSpectrum(6, orthonormal="exact")
    basis = spectrum.basis.detach().clone()
    spectrum.freeze()
    assert_close(spectrum.basis, basis)
    assert spectrum.penalty().item() == 0
    spectrum.freeze()  # twice is the same
    assert_close(spectrum.basis, basis)
    assert not any(parameter.requires_grad for parameter in spectrum.parameters())


def test_copies_keep_requires_grad():
    spectrum = lfds.LearnedSpectrum(6, orthonormal="exact").requires_grad_(False)
    for twin in (copy.deepcopy(spectrum), pickle.loads(pickle.dumps(spectrum))):
        assert not any(parameter.requires_grad for parameter in twin.parameters())


def test_reset_in_low_precision():
    spectrum = lfds.LearnedSpectrum(6).bfloat16()
    spectrum.reset_parameters()
    assert distance_from_orthonormal(spectrum.basis.float()).item() < 1e-3


def test_a_constant_response_filters_nothing():
    spectrum = lfds.LearnedSpectrum(6)
    layer = spectrum.layer(3).eval()
    with torch.no_grad():
        layer.response.fill_(1.0)
        layer.transforms.weight.copy_(torch.eye(3).repeat(2, 1))
    slots = torch.rand(2, 6, 3)
    assert_close(layer(slots, spectrum), 2 * slots, rtol=1e-4, atol=1e-4)


def test_the_signal_is_slots_and_basis():
    spectrum, slots = lfds.LearnedSpectrum(6), torch.randn(2, 6, 3)
    same, basis = spectrum.signal(slots)
    assert torch.equal(same, slots)
    assert torch.equal(basis, spectrum.basis)


@pytest.mark.plain
def test_invalid_options_are_refused():
    with pytest.raises(ValueError, match="'penalty' or 'exact', got 'qr'"):
        lfds.LearnedSpectrum(6, orthonormal="qr")
    with pytest.raises(ValueError, match="finite and not negative, got -1"):
        lfds.LearnedSpectrum(6, weight=-1.0)
