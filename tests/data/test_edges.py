import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.data.edges import (
    InvalidEdgeError,
    adjacency,
    both_directions,
    check_edges,
    edge_index_from_rows,
    rows_from_edge_index,
    undirected,
)

PTR = np.array([0, 3, 3, 5])
inside = st.one_of(
    st.tuples(st.integers(0, 2), st.integers(0, 2)), st.tuples(st.integers(3, 4), st.integers(3, 4))
)


def index(edges):
    return np.array(edges, dtype=np.int64).reshape(-1, 2).T


@given(edges=st.lists(inside, max_size=20), keep=st.booleans())
def test_rows_are_the_sorted_set_of_edges(edges, keep):
    rows = rows_from_edge_index(PTR, index(edges), keep_positions=keep)
    first = np.array([0, 0, 0, 3, 3])
    expected = sorted({(t, s) for s, t in edges})
    found = [
        (node, int(sender) + int(first[node]))
        for node in range(5)
        for sender in rows.senders[rows.ptr[node] : rows.ptr[node + 1]]
    ]
    assert found == expected
    assert rows.duplicates == len(edges) - len(expected)
    back = edge_index_from_rows(PTR, rows.ptr, rows.senders)
    assert back.T.tolist() == [[sender, receiver] for receiver, sender in expected]


@given(edges=st.lists(inside, min_size=1, max_size=20))
def test_of_equal_edges_the_first_is_kept(edges):
    rows = rows_from_edge_index(PTR, index(edges), keep_positions=True)
    positions = rows.take(np.arange(len(edges))[:, None]).flatten().tolist()
    assert positions == [edges.index((s, t)) for t, s in sorted({(t, s) for s, t in edges})]


@pytest.mark.parametrize(
    ("edges", "edge", "message"),
    [
        ([(0, 1), (1, 3)], 1, "joins node 1 of graph 0 and node 3 of graph 2"),
        ([(0, 5)], 0, "names node 5, but the nodes are 0 to 4"),
        ([(-1, 0)], 0, "names node -1"),
    ],
)
def test_the_first_invalid_edge_is_named(edges, edge, message):
    with pytest.raises(InvalidEdgeError, match=message) as caught:
        check_edges(PTR, index(edges))
    assert caught.value.edge == edge


def test_the_message_counts_from_the_given_number():
    with pytest.raises(InvalidEdgeError, match="node 2 of graph 1 and node 4 of graph 3"):
        check_edges(PTR, index([(1, 3)]), first=1)


@given(count=st.integers(0, 12), edges=st.integers(0, 40), seed=st.integers(0, 2**32 - 1))
def test_the_adjacency_has_no_direction_repetition_or_loops(count, edges, seed):
    rng = np.random.default_rng(seed)
    senders, receivers = rng.integers(0, max(count, 1), (2, edges if count else 0))
    dense = np.zeros((count, count), dtype=bool)
    dense[receivers, senders] = dense[senders, receivers] = True
    np.fill_diagonal(dense, False)
    order = np.argsort(receivers, kind="stable")
    ptr = np.concatenate([[0], np.bincount(receivers, minlength=count).cumsum()]).astype(np.int64)
    np.testing.assert_array_equal(adjacency(ptr, senders[order]).toarray(), dense)


@given(edges=st.lists(inside, max_size=20))
def test_undirected_edges_have_both_directions_once(edges):
    senders, receivers = undirected(*index(edges), 5)
    found = list(zip(senders.tolist(), receivers.tolist(), strict=True))
    assert found == sorted({pair for s, t in edges if s != t for pair in ((s, t), (t, s))})


def test_pairs_become_both_directions():
    assert both_directions(np.array([[0, 1], [1, 2]])).tolist() == [[0, 1, 1, 2], [1, 2, 0, 1]]
    assert both_directions(np.zeros((0, 2), dtype=np.int64)).shape == (2, 0)
