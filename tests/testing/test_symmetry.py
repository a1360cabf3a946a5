"""The law of symmetry catches structures that are not what they say."""

import networkx as nx
import pytest
import torch
from torch import nn

import lfds
from lfds.nn.structures.base import Symmetry
from lfds.nn.structures.graph import Loop, Sequence
from lfds.nn.structures.spatial import GraphStructure
from lfds.testing import assert_symmetric


class OneWayLoop(GraphStructure):
    """Hears only its left neighbour."""

    adjacency = None
    symmetries = Loop.symmetries

    def sum_of_neighbours(self, slots):
        return slots.roll(1, dims=1)


class OpenLoop(GraphStructure):
    """Says it is closed, and is a path."""

    adjacency = None
    symmetries = Loop.symmetries
    sum_of_neighbours = Sequence.sum_of_neighbours


class LeaningSequence(GraphStructure):
    """Hears the slot before it twice as loud as the one after."""

    adjacency = None
    symmetries = Sequence.symmetries

    def sum_of_neighbours(self, slots):
        return Sequence.sum_of_neighbours(self, slots) + nn.functional.pad(
            slots[:, :-1], (0, 0, 1, 0)
        )


class PlacedGraph(GraphStructure):
    """A graph whose slots know their number."""

    adjacency = None

    def sum_of_neighbours(self, slots):
        return slots * torch.arange(self.num_slots, dtype=slots.dtype)[:, None]

    def symmetries(self):
        yield Symmetry("renamed", torch.arange(self.num_slots).flip(0), PlacedGraph(self.num_slots))


@pytest.mark.parametrize(
    ("culprit", "words"),
    [
        (OneWayLoop(6), "mirrored"),
        (OpenLoop(6), "turned by one"),
        (LeaningSequence(6), "reversed"),
        (PlacedGraph(6), "renamed"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_structures_that_are_not_what_they_say(culprit, words):
    with pytest.raises(AssertionError, match=f"notices that it was {words}"):
        assert_symmetric(lfds.LFDSPool(3, culprit))


@pytest.mark.parametrize("structure", [lfds.Image(6, 6), lfds.Array(8)], ids=["image", "array"])
def test_a_layer_that_knows_its_places_is_caught(structure):
    pool = lfds.LFDSPool(3, structure)
    assert_symmetric(pool)
    bias = torch.randn(structure.num_slots, 3)
    layer = pool.layers[0]
    layer.register_forward_hook(lambda module, inputs, output: output + bias)  # place matters
    with pytest.raises(AssertionError, match=r"layer 0 of .* notices that it was moved"):
        assert_symmetric(pool)


def test_a_structure_too_small_to_move_says_so():
    with pytest.raises(AssertionError, match="too small to show its symmetry"):
        assert_symmetric(lfds.LFDSPool(3, lfds.Array(3)))


def test_a_torus():
    assert_symmetric(lfds.LFDSPool(3, lfds.LatentGraph(nx.grid_2d_graph(3, 4, periodic=True))))


def test_only_our_pooling_has_a_structure():
    with pytest.raises(TypeError, match="only an LFDSPool has a structure, got Identity"):
        assert_symmetric(nn.Identity())
