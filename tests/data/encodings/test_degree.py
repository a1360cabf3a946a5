import networkx as nx
import numpy as np
from hypothesis import given

from lfds.data.encodings.degree import Degree
from tests.data.encodings.graphs import assert_permutation_equivariant, named, random_graphs


def test_degrees_of_a_star_as_number_and_one_hot():
    star = named(nx.star_graph(4))
    np.testing.assert_allclose(Degree().encode(star)[:, 0], np.log1p([4, 1, 1, 1, 1]))
    one_hot = Degree(one_hot_up_to=2).encode(star)
    assert one_hot.tolist() == [[0, 0, 1]] + [[0, 1, 0]] * 4


@given(random_graphs())
def test_does_not_depend_on_the_order_of_nodes(graph):
    assert_permutation_equivariant(Degree().encode, graph)
    assert_permutation_equivariant(Degree(one_hot_up_to=3).encode, graph)
