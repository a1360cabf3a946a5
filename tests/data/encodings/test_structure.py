import numpy as np
import torch
from torch.testing import assert_close

from lfds.data import GraphSet
from lfds.data.encodings import RWSE, Degree
from lfds.data.encodings.structure import adjacencies, structural_features

# A triangle, nothing, an edge given in one direction with a loop, two lonely nodes.
GRAPHS = GraphSet.from_arrays(
    [3, 0, 2, 2], [[0, 1, 2, 1, 2, 0, 3, 4], [1, 2, 0, 0, 1, 2, 4, 4]], [0, 1, 0, 1]
)


def test_each_graph_is_cut_out_by_itself():
    found = [graph.toarray().tolist() for graph in adjacencies(GRAPHS)]
    assert found == [
        [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
        [],
        [[0, 1], [1, 0]],
        [[0, 0], [0, 0]],
    ]


def test_encodings_stand_side_by_side_in_the_order_asked_for():
    found = structural_features(GRAPHS, [Degree(), RWSE(steps=3)])
    assert found.shape == (7, 4)
    assert_close(found[:, 0], torch.tensor(np.log1p([2, 2, 2, 1, 1, 0, 0]), dtype=torch.float32))
    assert_close(found[0], torch.tensor([np.log(3), 0, 1 / 2, 1 / 4], dtype=torch.float32))
    assert_close(found[3], torch.tensor([np.log(2), 0, 1, 0], dtype=torch.float32))


def test_no_encodings_are_no_columns():
    assert structural_features(GRAPHS, []).shape == (7, 0)
