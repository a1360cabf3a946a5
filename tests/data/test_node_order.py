from itertools import pairwise

import networkx
import numpy as np
import torch
from hypothesis import given

from lfds.data import GraphSet
from lfds.data.node_order import node_permutation, shuffle_nodes
from tests.data.graphs import edge_list, graph_sets


def test_nodes_are_permuted_inside_their_graph():
    ptr = np.array([0, 50, 50, 51, 120])
    old_of_new, new_of_old = node_permutation(ptr, 0, "name")
    for first, last in pairwise(ptr):
        assert sorted(old_of_new[first:last]) == list(range(first, last))
    assert (old_of_new[new_of_old] == np.arange(120)).all()
    assert (old_of_new != np.arange(120)).sum() > 100


def test_the_order_depends_on_name_and_seed():
    ptr = np.array([0, 40])
    orders = {tuple(node_permutation(ptr, seed, name)[0]) for seed in (0, 1) for name in ("a", "b")}
    assert len(orders) == 4
    again = node_permutation(ptr, 0, "a")[0], node_permutation(ptr, 0, "a")[0]
    assert (again[0] == again[1]).all()


def as_networkx(graphs, number):
    first, last = int(graphs.ptr[number]), int(graphs.ptr[number + 1])
    graph = networkx.DiGraph()
    for node in range(first, last):
        features = torch.cat([graphs.labels[node], graphs.attributes[node]]).tolist()
        graph.add_node(node - first, features=features)
    of_edges = torch.cat([graphs.edge_labels, graphs.edge_attributes], dim=1)
    start = int(graphs.edge_ptr[first])
    for place, (sender, receiver) in enumerate(edge_list(graphs)[number]):
        graph.add_edge(sender, receiver, features=of_edges[start + place].tolist())
    return graph


@given(graphs=graph_sets())
def test_shuffled_graphs_are_isomorphic_with_labels_and_attributes(graphs):
    shuffled = shuffle_nodes(graphs, 3)
    assert shuffled.provenance["node_order_seed"] == 3
    for number in range(len(graphs)):
        assert networkx.is_isomorphic(
            as_networkx(graphs, number),
            as_networkx(shuffled, number),
            node_match=lambda a, b: a == b,
            edge_match=lambda a, b: a == b,
        )


def test_coordinates_stay_with_their_nodes():
    places = np.arange(10.0)[:, None]
    graphs = GraphSet.from_arrays([4, 6], [[], []], attributes=places, coordinates=places)
    shuffled = shuffle_nodes(graphs, 0)
    assert shuffled.coordinates.tolist() == shuffled.attributes.tolist() != places.tolist()
