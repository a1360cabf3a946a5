import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.nn.ops.edges import Edges, Rows, transposed, transposed_by_sorting


def dense(rows: Rows) -> torch.Tensor:
    size = len(rows.ptr) - 1
    matrix = torch.zeros(size, size, dtype=rows.weight.dtype)
    for row in range(size):
        for entry in range(int(rows.ptr[row]), int(rows.ptr[row + 1])):
            matrix[row, rows.column[entry]] += rows.weight[entry]
    return matrix


@st.composite
def drawn(draw):
    nodes = draw(st.integers(1, 6))
    node = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node), unique=True, max_size=12))
    index = torch.tensor(pairs, dtype=torch.long).view(-1, 2).T
    return nodes, index, torch.arange(1.0, len(pairs) + 1)


def matrix_of(nodes, index, weight):
    matrix = torch.zeros(nodes, nodes)
    for (source, target), value in zip(index.T.tolist(), weight.tolist(), strict=True):
        matrix[target, source] += value
    return matrix


@given(drawn())
def test_rows_receive_and_columns_send(graph):
    nodes, index, weight = graph
    edges = Edges.from_index(index, nodes, weight)
    assert_close(dense(edges.rows), matrix_of(nodes, index, weight))
    assert_close(dense(edges.columns), matrix_of(nodes, index, weight).T)
    assert edges.num_nodes == nodes


@given(drawn(), st.integers(0, 63))
def test_a_subgraph_is_the_submatrix(graph, bits):
    nodes, index, weight = graph
    mask = torch.tensor([bool(bits >> node & 1) for node in range(nodes)])
    edges = Edges.from_index(index, nodes, weight).subgraph(mask)
    expected = matrix_of(nodes, index, weight)[mask][:, mask]
    assert_close(dense(edges.rows), expected)
    assert_close(dense(edges.columns), expected.T)


@pytest.mark.parametrize("precision", [torch.float32, torch.float64, torch.float16])
@pytest.mark.parametrize("integers", [torch.int32, torch.int64])
def test_arguments_are_copied(precision, integers):
    ptr, source = torch.tensor([0, 2, 2, 3], dtype=integers), torch.tensor([1, 2, 0]).to(integers)
    weight = torch.tensor([1.0, 2.0, 3.0], dtype=precision)
    edges = Edges.from_rows(ptr, source, weight)
    for given_ in (ptr, source, weight):
        given_.fill_(99)
    assert dense(edges.rows).tolist() == [[0, 1, 2], [0, 0, 0], [3, 0, 0]]
    assert torch.equal(dense(edges.columns), dense(edges.rows).T)


def test_rows_of_a_batch_of_lfds_data():
    edges = Edges.from_rows(torch.tensor([0, 2, 2, 3]), torch.tensor([1, 2, 0], dtype=torch.int32))
    assert dense(edges.rows).tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert edges.target.tolist() == [0, 0, 2]


@given(drawn())
def test_transposing_by_sorting_gives_the_same_entries(graph):
    nodes, index, weight = graph
    rows = Edges.from_index(index, nodes, weight).rows
    for one, other in zip(transposed(rows), transposed_by_sorting(rows), strict=True):
        assert_close(one, other)


@pytest.mark.parametrize(
    ("ptr", "source", "weight", "message"),
    [
        ([0, 1], [1], None, "edges must come from nodes 0 to 0, got 1"),
        ([0, 1], [-1], None, "got -1"),
        ([0, 2], [0], None, "ptr must end at"),
        ([0, 1], [0], torch.ones(2), "weight must hold a number for each of the 1 edges"),
        ([0, 1], [0], torch.ones(1).long(), "floating-point"),
        ([0, 1], [0], torch.ones(1, requires_grad=True), "with requires_grad"),
    ],
)
def test_invalid_edges_are_refused(ptr, source, weight, message):
    with pytest.raises(ValueError, match=message):
        Edges.from_rows(torch.tensor(ptr), torch.tensor(source), weight)
