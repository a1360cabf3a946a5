"""A frozen network says what the network says in evaluation."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.nn import Edges, GraphNetwork, NetworkSettings, accel
from lfds.nn.accel.frozen import FrozenNetwork, Graphs, can_freeze, head, layer, network

pytestmark = pytest.mark.skipif(not accel.numba_installed(), reason="needs numba")

FEATURES, CLASSES = 5, 3


def drawn(sizes, seed=0, dtype=torch.float64):
    """Graphs of these sizes with edges that have a direction."""
    draw = torch.Generator().manual_seed(seed)
    sources, degrees = [], []
    for size in sizes:
        received = torch.rand(size, size, generator=draw) < 0.3
        degrees += received.sum(dim=1).tolist()
        sources.append(received.nonzero()[:, 1])
    return Graphs(
        torch.randn(sum(sizes), FEATURES, generator=draw).to(dtype),
        torch.tensor([0, *sizes]).cumsum(0),
        torch.tensor([0, *degrees]).cumsum(0),
        torch.cat([torch.empty(0).long(), *sources]).int(),
    )


def lived(dtype=torch.float64, **options):
    """A network whose statistics, scales and shifts are not those of birth."""
    torch.manual_seed(1)
    settings = NetworkSettings(
        **{"pool": "loop", "width": 8, "head_width": 7, "slots": 9} | options
    )
    model = GraphNetwork(FEATURES, CLASSES, settings).to(dtype)
    for seed in range(3):
        ordinary(model.train(), drawn([5, 7, 3], seed, dtype))
    for part in model.modules():
        if isinstance(part, torch.nn.BatchNorm1d) and part.affine:
            torch.nn.init.normal_(part.weight)
            torch.nn.init.normal_(part.bias)
    for pool in getattr(model.pool, "pools", ()):
        if pool.counts is not None:
            torch.nn.init.normal_(pool.counts.direction)
        if pool.blend is not None:
            torch.nn.init.normal_(pool.blend.logarithms)
    return model.eval()


def ordinary(model, graphs):
    start = graphs.ptr[:-1].repeat_interleave(graphs.ptr.diff())
    start = start.repeat_interleave(graphs.edge_ptr.diff())
    edges = Edges.from_rows(graphs.edge_ptr, start + graphs.source)
    return model(graphs.x, graphs.ptr, edges).detach()


OPTIONS = [
    {"pool": "loop"},
    {"pool": "sequence", "depth": 3},
    {"pool": "image"},
    {"pool": "array", "readout": "max+mean"},
    {"pool": "learned-spatial"},
    {"pool": "learned-spectral"},
    {"pool": "loop+image", "depth": 1},
    {"reduction": "sum", "blend": True},
    {"reduction": "mass", "blend": True, "counts": False},
    {"reduction": "mean", "counts": True, "readout": "max+mean"},
    {"anchors": "generated"},
    {"anchors": "mixture", "blend": True},
    {"node_norm": True, "readout": "max+weighted"},
    {"node_norm": True, "blend": True, "pool": "array", "readout": "max+weighted"},
    {"node_norm": True, "anchors": "mixture", "blend": True},
    {"layers": 1, "slots": 3},
    {"layers": 4, "head_norm": False},
    {"pooled_layers": "last", "pool": "loop+image", "blend": True},
    {"pooled_layers": "last", "layers": 1},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_it_says_what_the_network_says(options, dtype):
    model, graphs = lived(dtype, **options), drawn([4, 0, 1, 9, 6, 2], 7, dtype)
    assert can_freeze(model, graphs)
    near = {"rtol": 1e-3, "atol": 1e-3} if dtype == torch.float32 else {}
    assert_close(FrozenNetwork(model)(graphs), ordinary(model, graphs), **near)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=12), st.integers(1, 40))
def test_however_many_graphs_are_taken_at_once(sizes, most):
    model, graphs = lived(), drawn(sizes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network, "AT_ONCE", most)
        assert_close(FrozenNetwork(model)(graphs), ordinary(model, graphs))


def test_a_run_of_graphs_is_read_where_it_is():
    model, graphs = lived(), drawn([4, 3, 8, 5])
    part = graphs.run(slice(1, 3))
    assert part.x.data_ptr() == graphs.x[4].data_ptr()
    assert_close(FrozenNetwork(model)(part), FrozenNetwork(model)(graphs)[1:3])
    assert_close(FrozenNetwork(model)(part.run(slice(1, 2))), FrozenNetwork(model)(graphs)[2:3])


@pytest.mark.parametrize("wrong", ["scale", "shift"])
@pytest.mark.parametrize("where", [layer, head], ids=["layers", "head"])
def test_the_comparison_notices_a_wrong_norm(where, wrong, monkeypatch):
    model, graphs = lived(), drawn([4, 3, 8, 5])
    right = layer.scale_and_shift

    def forgets(norm):
        scale, shift = right(norm)
        return (scale.abs(), shift) if wrong == "scale" else (scale, 0 * shift)

    monkeypatch.setattr(where, "scale_and_shift", forgets)
    with pytest.raises(AssertionError):
        assert_close(FrozenNetwork(model)(graphs), ordinary(model, graphs))


def test_the_comparison_notices_edges_that_are_turned_round():
    model, graphs = lived(), drawn([4, 3, 8, 5])
    mirrored = graphs._replace(source=graphs.source.flip(0).clamp(max=2))
    with pytest.raises(AssertionError):
        assert_close(FrozenNetwork(model)(mirrored), ordinary(model, graphs))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("node", [0, 5, 11])
def test_what_is_not_finite_is_not_lost(value, node):
    model, graphs = lived(), drawn([4, 8, 3])
    graphs.x[node] = value
    said = FrozenNetwork(model)(graphs)
    whose = 0 if node < 4 else 1
    assert not said[whose].isfinite().all()
    assert said[2].isfinite().all()  # and stays where it is


def test_what_comes_out_is_a_tensor_as_any_other():
    said = FrozenNetwork(lived())(drawn([4, 3]))
    assert not said.is_inference()
    assert not said.requires_grad


class Replaced(torch.nn.Linear):
    """A product that is not torch's own."""


def test_what_cannot_be_frozen_is_left_as_it_is(monkeypatch):
    model, graphs = lived(), drawn([4, 3])
    assert can_freeze(model, graphs)
    assert not can_freeze(lived(pool="max"), graphs)
    assert not can_freeze(lived().train(), graphs)
    assert not can_freeze(model, drawn([]))
    assert not can_freeze(model, graphs._replace(x=graphs.x.float()))
    for part, name, product in (
        ("pools.0.layers.0", "transforms", Replaced(8, 16, bias=False)),
        ("", "mix", Replaced(24, 8, bias=False)),
    ):
        other = lived()
        setattr(other.pool.get_submodule(part), name, product)
        assert not can_freeze(other, graphs)
    monkeypatch.setattr(accel, "numba_installed", lambda: False)
    assert not can_freeze(model, graphs)


def star(size):
    """A hub that hears everybody, among nodes that are alike."""
    degrees = torch.tensor([0, size - 1]).repeat_interleave(torch.tensor([1, size]))
    x = torch.rand(size, FEATURES, generator=torch.Generator().manual_seed(0)) + 1
    return Graphs(x, torch.tensor([0, size]), degrees, torch.arange(1, size).int())


@pytest.mark.parametrize("size", [1_000, 20_000])
def test_long_sums_lose_few_digits(size):
    model, graphs = lived(torch.float32, reduction="sum"), star(size)
    said = FrozenNetwork(model)(graphs)
    exact = ordinary(model.double(), graphs._replace(x=graphs.x.double()))
    assert (said - exact).abs().max() < 2e-4 * exact.abs().max()


def test_large_graphs_go_through_the_network_as_it_is(monkeypatch):
    monkeypatch.setattr(network, "AT_ONCE", 10)
    model, graphs, seen = lived(), drawn([4, 11, 10, 12, 3]), []
    as_it_is = model.represent
    monkeypatch.setattr(
        model, "represent", lambda x, *rest: seen.append(len(x)) or as_it_is(x, *rest)
    )
    found = FrozenNetwork(model)(graphs)
    assert seen == [11, 12]
    monkeypatch.undo()
    assert_close(found, ordinary(model, graphs))


def test_assembled_graphs_are_numbered_through():
    graphs = drawn([4, 0, 3, 8]).run(slice(1, 4))
    ptr, edges = graphs.assembled()
    assert ptr.tolist() == [0, 0, 3, 11]
    own = torch.repeat_interleave(torch.tensor([0, 0, 3]), torch.tensor([0, 3, 8]))
    expected = graphs.source + own.repeat_interleave(graphs.edge_ptr.diff())
    assert torch.equal(edges.rows.column, expected.int())
    assert (edges.rows.weight == 1).all()
