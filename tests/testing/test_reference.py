"""The reference catches every step of the method done wrong."""

import pytest
import torch

import lfds
from lfds.nn import pool as pooling
from lfds.nn.projection import place
from lfds.nn.structures import spatial
from lfds.nn.structures.base import SlotActivation
from lfds.nn.structures.spectrum import SpectralLayer
from lfds.testing import assert_agrees_with_reference


@pytest.fixture
def pool():
    return lfds.LFDSPool(3, lfds.Loop(5))


def assert_caught(pool):
    with pytest.raises(AssertionError, match="not what the equations say"):
        assert_agrees_with_reference(pool)


def test_the_right_pooling_agrees(pool):
    assert_agrees_with_reference(pool)


def softmax_over_nodes(batch, anchors, reduction, low_memory):
    x, ptr, _ = batch
    parts = x.split(ptr.diff().tolist())
    return torch.stack([(part @ anchors.T).softmax(dim=0).T @ part for part in parts])


def hard_assignment(batch, anchors, reduction, low_memory):
    x, ptr, _ = batch
    share = torch.nn.functional.one_hot((x @ anchors.T).argmax(-1), len(anchors)).to(x.dtype)
    sizes = ptr.diff().tolist()
    parts = zip(share.split(sizes), x.split(sizes), strict=True)
    return torch.stack([own.T @ nodes for own, nodes in parts])


def mean_for_sum(batch, anchors, reduction, low_memory):
    return place(batch, anchors, "mean", low_memory)


@pytest.mark.parametrize("culprit", [softmax_over_nodes, hard_assignment, mean_for_sum])
def test_another_projection(pool, culprit, monkeypatch):
    monkeypatch.setattr(pooling, "place", culprit)
    assert_caught(pool)


def test_a_forgotten_blend(pool, monkeypatch):
    monkeypatch.setattr(lfds.nn.slot_modules.MaxBlend, "forward", lambda self, slots, x_max: slots)
    assert_caught(pool)


def test_norm_before_relu(pool, monkeypatch):
    def turned(self, slots):
        return self.norm(slots.flatten(0, 1)).relu().view(slots.shape)

    monkeypatch.setattr(SlotActivation, "forward", turned)
    monkeypatch.setattr(spatial, "can_fuse", lambda *_: False)
    assert_caught(pool)


def test_a_loop_that_is_open(pool, monkeypatch):
    monkeypatch.setattr(lfds.Loop, "sum_of_neighbours", lfds.Sequence.sum_of_neighbours)
    monkeypatch.setattr(spatial, "can_fuse", lambda *_: False)
    assert_caught(pool)


def test_a_loop_whose_edges_leave_it_open(pool, monkeypatch):
    def of_a_path(self, num_graphs):
        return lfds.Sequence(self.num_slots).bags(num_graphs)

    monkeypatch.setattr(lfds.Loop, "bags", of_a_path)
    assert_caught(pool)


@pytest.mark.parametrize("structure", [lfds.Image(4, 4), lfds.Array(6)], ids=["image", "array"])
def test_a_convolution_that_wraps_around(structure):
    pool = lfds.LFDSPool(3, structure)
    for layer in pool.layers:
        convolution = layer.convolution
        kind, size = type(convolution), convolution.kernel_size
        layer.convolution = kind(3, 3, size, padding="same", padding_mode="circular")
    assert_caught(pool)


def test_slots_that_hear_themselves(monkeypatch):
    right = lfds.LearnedGraph.sum_of_neighbours
    monkeypatch.setattr(
        lfds.LearnedGraph, "sum_of_neighbours", lambda self, slots: right(self, slots) + slots
    )
    assert_caught(lfds.LFDSPool(3, lfds.LearnedGraph(5)))


def test_a_basis_used_the_wrong_way_round(monkeypatch):
    def turned(self, slots, structure):
        own, sent = self.transforms(slots).chunk(2, dim=-1)
        mixed = structure.basis.T @ torch.diag(self.response) @ structure.basis @ sent
        own, mixed = self.activation(torch.cat([own, mixed], dim=-1)).chunk(2, dim=-1)
        return own + mixed

    monkeypatch.setattr(SpectralLayer, "forward", turned)
    assert_caught(lfds.LFDSPool(3, lfds.LearnedSpectrum(5)))


def test_the_maxima_of_the_layers_in_the_wrong_order(pool, monkeypatch):
    right = lfds.LFDSPool.forward

    def swapped(self, *batch):
        return torch.cat(right(self, *batch).chunk(2, dim=1)[::-1], dim=1)

    monkeypatch.setattr(lfds.LFDSPool, "forward", swapped)
    assert_caught(pool)


@pytest.mark.parametrize("anchors", ["generated", "mixture"])
def test_anchors_of_another_graph(anchors, monkeypatch):
    kind = type(lfds.nn.ANCHORS[anchors](3, 5))
    right = kind.forward
    monkeypatch.setattr(kind, "forward", lambda self, x_max: right(self, x_max).roll(1, dims=0))
    assert_caught(lfds.LFDSPool(3, lfds.Loop(5), anchors=anchors))


def test_only_our_pooling_has_a_reference():
    class Plain(torch.nn.Module):
        channels = 3

        def forward(self, x, index, dim_size):
            return x[:dim_size]

    with pytest.raises(TypeError, match="only an LFDSPool has this reference"):
        assert_agrees_with_reference(Plain())


def test_a_structure_of_ones_own_has_no_reference():
    class Lonely(lfds.nn.GraphStructure):
        adjacency = None
        symmetries = lfds.Loop.symmetries

        def sum_of_neighbours(self, slots):
            return 0 * slots

    with pytest.raises(TypeError, match="no slow reference of Lonely"):
        assert_agrees_with_reference(lfds.LFDSPool(3, Lonely(4)))
