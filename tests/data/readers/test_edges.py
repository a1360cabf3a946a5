import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.data.readers.edges import StrayEdgeError, check_edges, edge_rows

PTR = np.array([0, 3, 3, 5])
inside = st.one_of(
    st.tuples(st.integers(0, 2), st.integers(0, 2)), st.tuples(st.integers(3, 4), st.integers(3, 4))
)


def ends(edges):
    table = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


@given(edges=st.lists(inside, max_size=20), keep=st.booleans())
def test_rows_are_the_sorted_set_of_edges(edges, keep):
    source, target = ends(edges)
    rows = edge_rows(PTR, source, target, keep_positions=keep)
    first = np.array([0, 0, 0, 3, 3])
    expected = sorted({(t, s) for s, t in edges})
    found = [
        (node, int(other) + int(first[node]))
        for node in range(5)
        for other in rows.other[rows.ptr[node] : rows.ptr[node + 1]]
    ]
    assert found == expected
    assert rows.duplicates == len(edges) - len(expected)


@given(edges=st.lists(inside, min_size=1, max_size=20))
def test_of_equal_edges_the_first_stays(edges):
    source, target = ends(edges)
    rows = edge_rows(PTR, source, target, keep_positions=True)
    known = rows.of_kept(np.arange(len(edges))[:, None]).flatten().tolist()
    assert known == [edges.index((s, t)) for t, s in sorted({(t, s) for s, t in edges})]


@pytest.mark.parametrize(
    ("edges", "edge", "message"),
    [
        ([(0, 1), (1, 3)], 1, "joins node 1 of graph 0 and node 3 of graph 2"),
        ([(0, 5)], 0, "names node 5, but the nodes are 0 to 4"),
        ([(-1, 0)], 0, "names node -1"),
    ],
)
def test_the_first_stray_edge_is_named(edges, edge, message):
    with pytest.raises(StrayEdgeError, match=message) as caught:
        check_edges(PTR, *ends(edges))
    assert caught.value.edge == edge


def test_the_message_counts_as_the_user_does():
    with pytest.raises(StrayEdgeError, match="node 2 of graph 1 and node 4 of graph 3"):
        check_edges(PTR, *ends([(1, 3)]), counted_from=1)
