import copy
import warnings

import pytest
import torch
from tests.nn.drawn_edges import edges_of
from torch.nn import functional as F  # noqa: N812
from torch.testing import assert_close

from lfds.nn import POOLINGS, Edges, GraphNetwork, NetworkSettings
from lfds.nn.ops.ragged import index_from_ptr

SMALL = {
    "width": 8, "head_width": 8, "slots": 9, "clusters": 5, "sorted_nodes": 10, "seeds": 3
}  # fmt: skip


def build(pool: str, **options) -> GraphNetwork:
    torch.manual_seed(0)
    return GraphNetwork(5, 3, NetworkSettings(pool=pool, **{**SMALL, **options}))


def drawn(sizes=(6, 0, 9, 1)):
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    x = torch.randn(sum(sizes), 5)
    return x, ptr, edges_of(x, ptr)


@pytest.mark.parametrize(
    ("pool", "length"),
    [("loop", 320), ("diff", 320), ("topk", 320), ("max", 192), ("max+mean", 384), ("sort", 352)],
)
def test_the_vector_is_as_long_as_in_the_paper(pool, length):
    model = GraphNetwork(5, 3, NetworkSettings.paper(pool))
    assert model.represent(*drawn()).shape == (4, length)
    assert model.out_channels == length


@pytest.mark.parametrize("layers", ["all", "last"])
def test_the_vector_is_the_maxima_of_all_layers_and_what_was_pooled(layers):
    model, (x, ptr, edges) = build("loop", pooled_layers=layers).eval(), drawn((6, 9))
    everything, last = model.base(x, edges)
    largest = torch.stack([part.amax(0) for part in everything.split([6, 9])])
    pooled = model.pool(everything if layers == "all" else last, ptr, edges)
    assert_close(model.represent(x, ptr, edges), torch.cat([largest, pooled], dim=1))


@pytest.mark.parametrize("pool", POOLINGS)
def test_every_parameter_learns(pool):
    model, (x, ptr, edges) = build(pool, blend=True), drawn((20, 0, 30, 1))
    loss = F.cross_entropy(model(x, ptr, edges), torch.tensor([0, 1, 2, 0])) + model.penalty()
    loss.backward()
    assert loss.isfinite()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


@pytest.mark.parametrize("pool", POOLINGS)
def test_blind_to_the_order_of_nodes_and_edges(pool):
    model, (x, ptr, edges) = build(pool).double().eval(), drawn((6, 9))
    index = torch.stack([edges.rows.column.long(), edges.target])
    order = torch.cat([torch.randperm(6), 6 + torch.randperm(9)])
    moved = order.argsort()[index][:, torch.randperm(index.shape[1])]
    expected = model(x.double(), ptr, edges)
    assert_close(model(x[order].double(), ptr, Edges.from_index(moved, 15)), expected)


@pytest.mark.parametrize("pool", POOLINGS)
def test_a_graph_is_classified_alike_alone_and_in_company(pool):
    model, (x, ptr, edges) = build(pool).double().eval(), drawn()
    together = model(x.double(), ptr, edges)
    for graph in range(4):
        kept = index_from_ptr(ptr, len(x)) == graph
        alone = model(x[kept].double(), torch.tensor([0, int(kept.sum())]), edges.among(kept))
        assert_close(alone[0], together[graph])


@pytest.mark.parametrize("pool", POOLINGS)
def test_state_comes_back(pool):
    model, batch = build(pool), drawn()
    model(*batch)
    other = GraphNetwork(5, 3, model.settings)
    other.load_state_dict(copy.deepcopy(model).state_dict())
    assert_close(other.eval()(*batch), model.eval()(*batch))


@pytest.mark.parametrize("pool", POOLINGS)
def test_a_batch_of_one_node_trains(pool):
    model, (x, ptr, edges) = build(pool), drawn((1,))
    assert model(x, ptr, edges).isfinite().all()


def test_the_same_seed_builds_and_trains_the_same_network():
    batch = drawn()
    results = []
    for _ in range(2):
        model = build("loop")
        torch.manual_seed(1)
        results.append(model(*batch))
    assert results[0].equal(results[1])


def test_it_learns_to_tell_triangles_from_paths():
    ring = torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]])
    path = ring[:, :4]
    index = torch.cat([(path if graph % 2 else ring) + 3 * graph for graph in range(20)], dim=1)
    batch = torch.randn(60, 5), torch.arange(0, 61, 3), Edges.from_index(index, 60)
    batch[0][:, 0] = torch.bincount(index[1], minlength=60)
    model, y = build("max", head_dropout=0.0), torch.arange(20) % 2
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(30):
        optimizer.zero_grad()
        F.cross_entropy(model(*batch), y).backward()
        optimizer.step()
    assert (model.eval()(*batch).argmax(1) == y).all()


def test_what_does_not_fit_is_named():
    x, ptr, edges = drawn()
    with pytest.raises(ValueError, match="x must have 5 channels, got 4"):
        build("max")(x[:, :4], ptr, edges)
    with pytest.raises(ValueError, match="ptr must end at"):
        build("max")(x, ptr[:-1], edges)
    with pytest.raises(ValueError, match="features must be at least 1, got 0; nodes without"):
        GraphNetwork(0, 3, NetworkSettings(pool="max"))
    with pytest.raises(ValueError, match="classes must be at least 1"):
        GraphNetwork(3, 0, NetworkSettings(pool="max"))


@pytest.mark.parametrize("pool", ["max", "loop"])
@pytest.mark.parametrize(
    ("given", "own"),
    [
        (torch.float64, torch.float32),
        (torch.float32, torch.float64),
        (torch.bfloat16, torch.float32),
    ],
)
def test_nodes_of_another_precision_are_refused_with_the_way_out(pool, given, own):
    x, ptr, edges = drawn()
    model = build(pool).to(own)
    said = rf"^x must be of the dtype .* {own}, got {given}; .* x.to\({own}\) or model.to\({given}"
    with pytest.raises(TypeError, match=said):
        model(x.to(given), ptr, edges)
    assert model(x.to(own), ptr, edges).dtype == own
    assert model.to(given)(x.to(given), ptr, edges).dtype == given


def test_autocast_brings_together_what_it_can():
    x, ptr, edges = drawn()
    with torch.autocast("cpu", torch.bfloat16):
        assert build("loop")(x.bfloat16(), ptr, edges).isfinite().all()
        for nodes, model in ((x.double(), build("loop")), (x, build("loop").double())):
            with pytest.raises(TypeError, match="x must be of the dtype"):
                model(nodes, ptr, edges)


def test_a_network_with_other_products_takes_what_they_take():
    x, ptr, edges = drawn((6, 9))
    model = build("max").eval()
    expected = model(x, ptr, edges)
    with warnings.catch_warnings(action="ignore"):  # torch.ao is on its way out
        quantized = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear})
    assert (quantized(x, ptr, edges) - expected).abs().max() < 0.5
