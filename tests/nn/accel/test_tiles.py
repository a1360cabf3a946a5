import torch
from hypothesis import given
from hypothesis import strategies as st

from lfds.nn.accel.tiles import make_tiles, tile_size

SIZES = st.lists(st.integers(0, 20), min_size=1, max_size=8)


@given(sizes=SIZES, size=st.integers(1, 24))
def test_tiles_hold_every_node_once_and_never_two_graphs(sizes, size):
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    tiles = make_tiles(ptr, sum(sizes), size)
    assert len(tiles.graph) == sum(sizes) // size + len(sizes)
    index = torch.repeat_interleave(torch.tensor(sizes)).tolist()
    seen = []
    for start, stop, graph in zip(*(part.tolist() for part in tiles[:3]), strict=True):
        rows = range(start, stop)
        assert len(rows) <= size
        assert {index[row] for row in rows} <= {graph}
        seen += rows
    assert seen == list(range(sum(sizes)))


@given(sizes=SIZES, size=st.integers(1, 24))
def test_first_is_where_the_tiles_of_a_graph_begin(sizes, size):
    tiles = make_tiles(torch.tensor([0, *sizes]).cumsum(0), sum(sizes), size)
    assert tiles.first.diff().tolist() == [-(-count // size) for count in sizes]


@given(nodes=st.integers(0, 10**8), graphs=st.integers(1, 10**5))
def test_tiles_are_not_much_larger_than_graphs_and_not_many(nodes, graphs):
    size = tile_size(nodes, graphs)
    assert 16 <= size <= 8192
    assert size & (size - 1) == 0
    # What is filled up with zeros is bounded by the nodes, or by 16 rows for a graph.
    assert (nodes // size + graphs) * size <= 3 * nodes + 16 * graphs
