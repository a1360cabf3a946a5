"""The slow reference notices every step of the method that is done wrong."""

import pytest
import torch
from tests.nn.cases import STRUCTURES
from torch import nn
from torch.testing import assert_close

import lfds
from lfds.nn import pool as pooling
from lfds.nn.normalization import ChannelNorm
from lfds.nn.projection import place
from lfds.nn.slot_modules import MaxBlend, SlotCounts, SlotWeights
from lfds.nn.spatial import Activation
from lfds.nn.structures.spectrum import SpectralLayer
from lfds.testing import assert_matches_reference, reference_pool, reference_slots
from lfds.testing.invariants import collate, perturbed_copy, random_graphs
from lfds.testing.reference import reference_layer


def assert_noticed(pool):
    with pytest.raises(AssertionError, match="differ from the slow reference"):
        assert_matches_reference(pool)


@pytest.fixture
def pool():
    return lfds.LFDSPool.paper(3, lfds.Loop(5))


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_structure_of_the_registry_has_a_reference(name):
    structure = STRUCTURES[name]()
    assert reference_layer.dispatch(type(structure)) is not reference_layer.dispatch(object)


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("make", [lfds.LFDSPool, lfds.LFDSPool.paper], ids=["default", "paper"])
def test_slots_are_those_that_the_pooling_distributes_nodes_over(name, make):
    trial = perturbed_copy(make(3, STRUCTURES[name]()), 3)
    graphs = random_graphs(3, (4, 0, 2))
    x, index = collate(graphs)
    batch = lfds.nn.ops.ragged.ragged(x, index, num_graphs=3)
    expected = torch.stack([reference_slots(trial, graph) for graph in graphs])
    assert_close(trial.place(trial.normalized(batch)), expected)


def softmax_over_nodes(batch, anchors, reduction, low_memory):
    x, ptr, *_ = batch
    parts = x.split(ptr.diff().tolist())
    return torch.stack([(part @ anchors.T).softmax(dim=0).T @ part for part in parts])


def hard_assignment(batch, anchors, reduction, low_memory):
    x, ptr, *_ = batch
    share = torch.nn.functional.one_hot((x @ anchors.T).argmax(-1), len(anchors)).to(x.dtype)
    sizes = ptr.diff().tolist()
    parts = zip(share.split(sizes), x.split(sizes), strict=True)
    return torch.stack([own.T @ nodes for own, nodes in parts])


def mean_for_sum(batch, anchors, reduction, low_memory):
    return place(batch, anchors, "mean", low_memory)


@pytest.mark.parametrize("broken", [softmax_over_nodes, hard_assignment, mean_for_sum])
def test_another_projection_is_noticed(pool, broken, monkeypatch):
    monkeypatch.setattr(pooling, "place", broken)
    assert_noticed(pool)


def test_a_missing_blend_is_noticed(pool, monkeypatch):
    monkeypatch.setattr(MaxBlend, "forward", lambda self, slots, x_max: slots)
    assert_noticed(pool)


def test_missing_counts_are_noticed(monkeypatch):
    monkeypatch.setattr(SlotCounts, "forward", lambda self, slots, mass: slots)
    assert_noticed(lfds.LFDSPool(3, lfds.Loop(5)))


def test_nodes_that_are_not_normalized_are_noticed(monkeypatch):
    monkeypatch.setattr(ChannelNorm, "forward", lambda self, x: x)
    assert_noticed(lfds.LFDSPool(3, lfds.Loop(5)))


def test_slot_weights_that_ignore_the_slot_are_noticed(monkeypatch):
    monkeypatch.setattr(
        SlotWeights, "forward", lambda self, slots: slots.mean(dim=1) * self.weights.sum(dim=0)
    )
    assert_noticed(lfds.LFDSPool(3, lfds.Loop(5)))


def test_another_linear_map_is_noticed():
    pool = lfds.LFDSPool(3, lfds.Loop(5), hidden_channels=4)
    assert_matches_reference(pool)
    pool.input_map.register_forward_hook(lambda module, inputs, output: output.flip(1))
    assert_noticed(pool)


def test_batch_norm_before_relu_is_noticed(pool, monkeypatch):
    def swapped(self, slots):
        return self.norm(slots.flatten(0, -2)).relu().view(slots.shape)

    monkeypatch.setattr(Activation, "forward", swapped)
    assert_noticed(pool)


def test_an_open_loop_is_noticed(pool, monkeypatch):
    monkeypatch.setattr(lfds.Loop, "sum_of_neighbours", lfds.Sequence.sum_of_neighbours)
    assert_noticed(pool)


@pytest.mark.parametrize("structure", [lfds.Image(4, 4), lfds.Array(6)], ids=["image", "array"])
def test_a_convolution_that_wraps_around_is_noticed(structure):
    pool = lfds.LFDSPool(3, structure)
    for layer in pool.layers:
        convolution, size = type(layer.convolution), layer.convolution.kernel_size
        layer.convolution = convolution(3, 3, size, padding="same", padding_mode="circular")
    assert_noticed(pool)


def test_slots_that_are_their_own_neighbours_are_noticed(monkeypatch):
    right = lfds.LearnedGraph.sum_of_neighbours
    monkeypatch.setattr(
        lfds.LearnedGraph, "sum_of_neighbours", lambda self, slots: right(self, slots) + slots
    )
    assert_noticed(lfds.LFDSPool(3, lfds.LearnedGraph(5)))


def test_a_transposed_basis_is_noticed(monkeypatch):
    def transposed(self, slots, structure):
        own, sent = self.transforms(slots).chunk(2, dim=-1)
        mixed = structure.basis.T @ torch.diag(self.response) @ structure.basis @ sent
        own, mixed = self.activation(torch.cat([own, mixed], dim=-1)).chunk(2, dim=-1)
        return own + mixed

    monkeypatch.setattr(SpectralLayer, "forward", transposed)
    assert_noticed(lfds.LFDSPool(3, lfds.LearnedSpectrum(5)))


def test_maxima_of_layers_in_the_wrong_order_are_noticed(pool, monkeypatch):
    right = lfds.LFDSPool.forward

    def swapped(self, *batch):
        return torch.cat(right(self, *batch).chunk(2, dim=1)[::-1], dim=1)

    monkeypatch.setattr(lfds.LFDSPool, "forward", swapped)
    assert_noticed(pool)


@pytest.mark.parametrize("name", ["generated", "mixture"])
def test_anchors_of_another_graph_are_noticed(name, monkeypatch):
    anchors = lfds.nn.ANCHORS[name](3, 5)
    right = type(anchors).forward
    monkeypatch.setattr(
        type(anchors), "forward", lambda self, x_max: right(self, x_max).roll(1, dims=0)
    )
    assert_noticed(lfds.LFDSPool(3, lfds.Loop(5), anchors=anchors))


class Lonely(lfds.nn.GraphStructure):
    """Slots without neighbours."""

    adjacency = None
    symmetries = lfds.Loop.symmetries

    def sum_of_neighbours(self, slots):
        return 0 * slots


class Constant(lfds.nn.Anchors):
    depends_on_graph = False

    def reset_parameters(self):
        pass

    def forward(self, x_max=None):
        return torch.ones(self.num_slots, self.channels, dtype=torch.float64)


def test_what_has_no_reference_is_refused():
    with pytest.raises(TypeError, match="only an LFDSPool has a slow reference, got Identity"):
        assert_matches_reference(nn.Identity())
    with pytest.raises(TypeError, match=r"no slow reference of Lonely; add one with .*register"):
        assert_matches_reference(lfds.LFDSPool(3, Lonely(4), anchors="fixed"))
    with pytest.raises(TypeError, match="no slow reference of Constant"):
        assert_matches_reference(lfds.LFDSPool(3, lfds.Loop(4), anchors=Constant(3, 4)))
    pool = lfds.LFDSPool(3, lfds.Image(4, 4), latent=nn.Conv2d(3, 3, 3))
    with pytest.raises(TypeError, match=r"latent=\) has no slow reference"):
        reference_pool(pool, torch.randn(4, 3))
