import networkx
import pytest

from lfds.data import DataError, GraphSet
from lfds.data.readers.networkx import category_names, graphs_from_networkx
from tests.data.graphs import edge_list


def test_nodes_with_any_name_are_numbered_in_order():
    graph = networkx.Graph([("b", "a"), ("a", (1, 2))])
    graphs = GraphSet.from_networkx([graph, networkx.empty_graph(2)], ["path", "dots"])
    assert edge_list(graphs) == [[(1, 0), (0, 1), (2, 1), (1, 2)], []]
    assert graphs.classes == ("dots", "path")


def test_directed_edges_and_self_loops_are_not_doubled():
    assert edge_list(GraphSet.from_networkx([networkx.DiGraph([(0, 1), (1, 1)])])) == [
        [(0, 1), (1, 1)]
    ]
    assert edge_list(GraphSet.from_networkx([networkx.Graph([(0, 0)])])) == [[(0, 0)]]


def test_node_and_edge_data_are_read_by_name():
    graph = networkx.Graph(y=1.5)
    graph.add_node("a", mass=1.5, charge=-1, kind=3)
    graph.add_node("b", mass=2.5, charge=0, kind=4)
    graph.add_edge("a", "b", length=0.5)
    graphs = GraphSet.from_networkx(
        [graph], attributes=["mass", "charge"], label="kind", edge_attributes=["length"]
    )
    assert graphs.x.tolist() == [[1.5, -1.0], [2.5, 0.0]]
    assert graphs.labels.tolist() == [[3], [4]]
    assert graphs.edge_attributes.tolist() == [[0.5], [0.5]]
    assert graphs.y.tolist() == [1.5]


def with_node(**data):
    graph = networkx.Graph()
    graph.add_node("a", **data)
    return graph


@pytest.mark.parametrize(
    ("graphs", "options", "message"),
    [
        ([], {}, "needs at least one graph"),
        ([with_node()], {"attributes": ["mass"]}, "graph 0: node 'a' lacks 'mass'"),
        ([with_node(mass="big")], {"attributes": ["mass"]}, "needs a number as 'mass', not 'big'"),
        ([with_node(kind=0.5)], {"label": "kind"}, "labels: needs whole numbers"),
        ([networkx.Graph(y=1), networkx.Graph()], {}, 'graph 1: lacks graph\\["y"\\]'),
        ([networkx.path_graph(2)], {"edge_attributes": ["w"]}, "lacks 'w'"),
        ([networkx.Graph], {}, "needs a list of NetworkX graphs"),
    ],
)
def test_invalid_graphs_are_named(graphs, options, message):
    with pytest.raises(DataError, match=message):
        GraphSet.from_networkx(graphs, **options)


def test_a_single_graph_outside_a_list_is_an_error():
    with pytest.raises(DataError, match="needs a list of NetworkX graphs; put a single one in"):
        GraphSet.from_networkx(networkx.path_graph(3))


def named(*elements, bond="single"):
    graph = networkx.path_graph(len(elements))
    for node, element in enumerate(elements):
        graph.nodes[node]["element"] = element
    for edge in graph.edges:
        graph.edges[edge].update(bond=bond, length=1.5)
    return graph


def test_categories_may_be_names():
    options = {"label": "element", "edge_label": "bond", "edge_attributes": ["length"]}
    first = graphs_from_networkx([named("C", "N", "C"), named("O", "C", bond="double")], **options)
    labels = first.labels[:, 0].tolist()
    assert labels[0] == labels[2] == labels[4]
    assert len(set(labels)) == 3
    names = category_names(first)
    assert [names[label] for label in labels] == ["C", "N", "C", "O", "C"]
    assert {names[label] for label in first.edge_labels[:, 0].tolist()} == {"single", "double"}
    assert first.edge_attributes.unique().tolist() == [1.5]
    # The same name is the same integer in any other set: a model needs no list of names.
    other = graphs_from_networkx([named("N")], label="element")
    assert other.labels[0, 0] == labels[1]


def test_names_and_integers_are_not_mixed():
    with pytest.raises(DataError, match="node '1' has '7' as 'element', and others have n"):
        graphs_from_networkx([named("C", 7)], label="element")
    with pytest.raises(DataError, match="needs a number as 'element', not 'None'"):
        graphs_from_networkx([named(None)], label="element")
    with pytest.raises(DataError, match="needs a number as 'element', not 'C'"):
        graphs_from_networkx([named("C")], attributes=["element"])
