from dataclasses import replace

import torch

from lfds.data.storage import content_of
from tests.data.graphs import three_graphs


def test_the_hash_depends_on_all_that_can_be_learned_from():
    graphs = three_graphs()
    others = [
        replace(graphs, name="other"),
        replace(graphs, classes=(0, 1)),
        replace(graphs, y=graphs.y.flip(0)),
        graphs.with_features(torch.zeros(5, 0)),
        graphs[[0, 2, 1]],
    ]
    assert len({content_of(one) for one in (graphs, *others)}) == 6


def test_the_hash_does_not_depend_on_coordinates_and_provenance():
    graphs = three_graphs()
    same = replace(graphs, coordinates=torch.ones(5, 3), provenance={"made": "again"})
    assert content_of(same) == content_of(graphs) == content_of(three_graphs())
