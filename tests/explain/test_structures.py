from collections.abc import Iterator

import numpy as np
import pytest
import torch

import lfds
from lfds.explain.structures import draw
from lfds.nn import Structure, Symmetry


@pytest.mark.parametrize(
    ("structure", "words"),
    [
        (lfds.Image(2, 3), "Image of 2 x 3 slots"),
        (lfds.Loop(5), "Loop of 5 slots"),
        (lfds.Sequence(5), "Sequence of 5 slots"),
        (lfds.Array(5), "Array of 5 slots"),
        (lfds.LearnedGraph(5), "Learned graph of 5 slots"),
        (lfds.LatentGraph(torch.ones(4, 4) - torch.eye(4)), "Graph of 4 slots"),
        (lfds.LearnedSpectrum(5), "Spectrum of 5 slots"),
        (lfds.LearnedSpectrum(5, orthonormal="exact"), "Spectrum of 5 slots"),
    ],
    ids=repr,
)
def test_every_structure_is_drawn_as_what_it_is(structure, words):
    drawing = draw(structure)
    assert drawing.words == words
    assert len(drawing.places) == structure.num_slots


def test_a_learned_graph_shows_what_it_has_learned():
    structure = lfds.LearnedGraph(4)
    with torch.no_grad():
        structure.logits.fill_(-1.0)
        structure.logits[1, 2] = 4.0
    drawing = draw(structure)
    strongest = drawing.edges[drawing.weights.argmax()]
    assert strongest.tolist() == [1, 2]
    assert drawing.weights.max() == 1


def test_a_spectrum_shows_its_basis():
    structure = lfds.LearnedSpectrum(6)
    np.testing.assert_allclose(draw(structure).basis, structure.basis.detach().numpy())


class Herd(Structure):
    def layer(self, channels: int):
        raise NotImplementedError

    def symmetries(self) -> Iterator[Symmetry]:
        yield from ()


def test_a_structure_nobody_knows_stands_in_line_under_its_name():
    drawing = draw(Herd(5))
    assert drawing.words == "Herd of 5 slots"
    assert drawing.places.shape == (5, 2)
