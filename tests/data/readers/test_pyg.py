import pytest
import torch
from hypothesis import given
from torch_geometric.data import Data

from lfds.data import DataError, GraphSet
from tests.data.graphs import edge_list, graph_sets, three_graphs

EDGE = torch.tensor([[0], [1]])


def with_edges(rows, value=0.5):
    """A graph of two edges, with so many rows of edge_attr, of which the last has a value."""
    edge_attr = torch.zeros(rows, 1, dtype=torch.float64)
    edge_attr[-1] = value
    return Data(num_nodes=3, edge_index=torch.tensor([[0, 1], [1, 2]]), edge_attr=edge_attr)


@given(graphs=graph_sets())
def test_to_pyg_and_back_gives_an_equal_set(graphs):
    back = GraphSet.from_pyg(graphs.to_pyg())
    assert edge_list(back) == edge_list(graphs)
    assert back.sizes.tolist() == graphs.sizes.tolist()
    assert torch.equal(back.x, graphs.x)
    assert torch.equal(back.labels, graphs.labels)
    assert torch.equal(back.edge_attributes, graphs.edge_attributes)
    assert torch.equal(back.edge_labels, graphs.edge_labels)
    if graphs.classes:
        assert [back.classes[c] for c in back.y.tolist()] == graphs.y.tolist()
    else:
        assert torch.equal(back.y, graphs.y)


def test_features_are_preferred_to_attributes():
    graphs = three_graphs().with_features(torch.ones(5, 7))
    assert graphs.to_pyg()[0].x.shape == (3, 7)
    assert three_graphs().with_features(torch.ones(5, 0)).to_pyg()[0].x.shape == (3, 2)


def test_missing_tensors_are_left_out_of_pyg_objects():
    data = GraphSet.from_arrays([2], [[0], [1]]).to_pyg()[0]
    assert data.x is None
    assert data.edge_attr is None
    assert data.num_nodes == 2


def test_num_nodes_alone_is_enough():
    graphs = GraphSet.from_pyg([Data(x=torch.ones(2, 3), y=1), Data(x=torch.ones(1, 3), y=0)])
    assert graphs.num_edges == 0
    assert graphs.y.tolist() == [1, 0]


@pytest.mark.parametrize("y", [torch.tensor(0.5), torch.tensor([0.5]), torch.tensor([[0.5]])])
def test_a_target_may_have_any_shape_with_one_element(y):
    assert GraphSet.from_pyg([Data(x=torch.ones(1, 1), y=y)]).y.tolist() == [0.5]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], "needs at least one graph"),
        ([3], "graph 0: needs torch_geometric.data.Data, not int"),
        ([Data(x=torch.ones(1, 1)), Data(num_nodes=2)], "graph 1: lacks x"),
        ([Data(x=torch.ones(1, 1)), Data(x=torch.ones(1, 2))], r"graph 1: x needs shape \[n, 1\]"),
        ([Data(x=torch.ones(1, 1), edge_index=EDGE)], "graph 0: edge_index names node 1"),
        ([Data(x=torch.ones(1, 1), edge_index=EDGE[:1])], r"needs shape \[2, edges\]"),
        ([Data(x=torch.ones(1, 1), y="a")], "graph 0: y needs a tensor or numbers, not 'a'"),
        ([Data(x=torch.ones(2, 1), edge_index=EDGE - 1)], "edge_index names node -1"),
        (
            [Data(x=torch.ones(n, 1), y=torch.zeros(n)) for n in (2, 0)],
            "graph 0: y needs one target for the graph",
        ),
        ([Data(x=torch.ones(1, 1) * torch.nan)], "graph 0: row 0 of x holds .*finite numbers"),
        (
            [Data(x=torch.ones(n, 1), pos=torch.ones(3, 2)) for n in (3, 2)],
            r"graph 1: pos needs one row for each of 2 nodes, not shape \[3, 2\]",
        ),
        (
            [with_edges(2), with_edges(2), with_edges(3)],
            r"graph 2: edge_attr needs one row for each of 2 edges, not shape \[3, 1\]",
        ),
        (
            [with_edges(2), with_edges(2, value=torch.nan), with_edges(2)],
            r"graph 1: row 1 of edge_attr holds '\[nan\]', but needs finite numbers below 3.4e38; "
            "impute",
        ),
        ([with_edges(2), with_edges(2, value=1e300)], "graph 1: row 1 of edge_attr holds .*1e.300"),
        ([Data(num_nodes=1, y=torch.tensor([[0.0, torch.inf]]))], "y: row 0 holds .*inf"),
        ([Data(x=torch.ones(2, 1), edge_index=EDGE.float())], "edge_index needs whole numbers"),
        ([Data(x=torch.ones(2, 1), edge_index=EDGE.cfloat())], "edge_index needs whole numbers"),
        ([Data(x=torch.ones(2, 1), edge_index="ab")], "edge_index needs a tensor or numbers"),
        ([Data(x=torch.ones(2, 1).to_sparse())], "x needs a dense tensor, not torch.sparse_coo"),
        (
            [Data(num_nodes=1, y=torch.ones(1).to(kind)) for kind in (torch.int64, torch.uint64)],
            "y: needs one type of numbers, not torch.int64, torch.uint64; convert",
        ),
    ],
)
def test_invalid_graphs_are_named(items, message):
    with pytest.raises(DataError, match=message):
        GraphSet.from_pyg(items)


def test_classes_may_be_a_column():
    items = [Data(x=torch.ones(1, 1), y=torch.tensor([[label]])) for label in (7, 3)]
    assert GraphSet.from_pyg(items).classes == (3, 7)


def test_coordinates_are_pyg_positions():
    graphs = GraphSet.from_arrays([2, 1], [[], []], coordinates=[[0, 1], [2, 3], [4, 5]])
    items = graphs.to_pyg()
    assert items[1].pos.tolist() == [[4, 5]]
    assert GraphSet.from_pyg(items).coordinates.tolist() == graphs.coordinates.tolist()
    assert items[0].x is None


def test_edges_may_be_lists_or_empty():
    items = [
        Data(x=torch.ones(2, 1), edge_index=edges) for edges in ([[0], [1]], torch.empty(2, 0))
    ]
    assert GraphSet.from_pyg(items).edge_index.tolist() == [[0], [1]]


def test_floats_of_8_bits_are_joined_with_others():
    items = [Data(x=torch.ones(1, 1).to(dtype)) for dtype in (torch.float32, torch.float8_e4m3fn)]
    assert GraphSet.from_pyg(items).x.tolist() == [[1], [1]]


def test_several_targets_are_a_row_and_may_be_missing():
    rows = [[0.0, torch.nan], [1.0, 0.0]]
    graphs = GraphSet.from_pyg([Data(num_nodes=1, y=torch.tensor([row])) for row in rows])
    assert graphs.classes == ()
    assert graphs.y.nan_to_num(-9).tolist() == [[0, -9], [1, 0]]
    whole = GraphSet.from_pyg(
        [Data(num_nodes=1, y=torch.tensor([row])) for row in ([0, 1], [1, 1])]
    )
    assert (whole.classes, whole.y.tolist()) == ((0, 1), [[0, 1], [1, 1]])


def test_missing_classes_are_nan_in_pyg():
    y = torch.tensor([[0, 1], [-1, 1]])
    graphs = GraphSet.from_arrays([1, 1], [[], []]).with_targets(y, ("no", "yes"))
    found = torch.cat([item.y for item in graphs.to_pyg()])
    assert found.nan_to_num(-9).tolist() == [[0, 1], [-9, 1]]
    assert torch.cat([item.y for item in graphs[:1].to_pyg()]).tolist() == [[0, 1]]
