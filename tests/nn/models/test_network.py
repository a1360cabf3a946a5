"""The network of the comparison, and its base and head."""

import copy
import warnings

import pytest
import torch
from tests.nn.cases import POOLING_NAMES, dense_matrix, directed_edges, small_settings
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.testing import assert_close

from lfds.nn import Edges, GraphNetwork, NetworkSettings
from lfds.nn.models.backbone import Backbone, node_mask
from lfds.nn.models.head import Head
from lfds.nn.ops.ragged import index_from_ptr

every_pooling = pytest.mark.parametrize("pool", POOLING_NAMES)


def build(pool: str, **options) -> GraphNetwork:
    torch.manual_seed(0)
    return GraphNetwork(5, 3, small_settings(pool, **options))


def random_batch(sizes=(6, 0, 9, 1)):
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    x = torch.randn(sum(sizes), 5)
    return x, ptr, directed_edges(x, ptr)


@pytest.mark.parametrize(
    ("pool", "length"),
    [("loop", 320), ("diff", 320), ("topk", 320), ("max", 192), ("max+mean", 384), ("sort", 352)],
)
def test_the_length_of_the_vector_in_the_paper(pool, length):
    model = GraphNetwork(5, 3, NetworkSettings.paper(pool))
    assert model.represent(*random_batch()).shape == (4, length)
    assert model.vector_channels == length


@pytest.mark.parametrize("layers", ["all", "last"])
@pytest.mark.parametrize("readout", ["max", "stats"])
def test_the_vector_is_the_statistics_of_all_layers_and_the_pooled_vector(layers, readout):
    options = {"pooled_layers": layers, "flat_readout": readout, "vector_norm": False}
    model, (x, ptr, edges) = build("loop", **options).eval(), random_batch((6, 9))
    everything, last = model.base(x, edges, ptr)
    flat = []
    for part in everything.split([6, 9]):
        size = torch.tensor([len(part)]).log1p()
        spread = (part.var(0, correction=0) + 1e-8).sqrt()
        more = [part.mean(0), spread, size] if readout == "stats" else []
        flat.append(torch.cat([part.amax(0), *more]))
    pooled = model.pool(everything if layers == "all" else last, ptr, edges)
    found = model.represent(x, ptr, edges)
    assert_close(found, torch.cat([torch.stack(flat), pooled], dim=1), atol=1e-4, rtol=1e-4)


@every_pooling
def test_every_parameter_has_a_gradient(pool):
    model, (x, ptr, edges) = build(pool, blend=True), random_batch((20, 0, 30, 1))
    loss = F.cross_entropy(model(x, ptr, edges), torch.tensor([0, 1, 2, 0])) + model.penalty()
    loss.backward()
    assert loss.isfinite()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


@every_pooling
def test_permutation_invariant_in_nodes_and_edges(pool):
    model, (x, ptr, edges) = build(pool).double().eval(), random_batch((6, 9))
    index = torch.stack([edges.rows.column.long(), edges.target])
    order = torch.cat([torch.randperm(6), 6 + torch.randperm(9)])
    moved = order.argsort()[index][:, torch.randperm(index.shape[1])]
    expected = model(x.double(), ptr, edges)
    assert_close(model(x[order].double(), ptr, Edges.from_index(moved, 15)), expected)


@every_pooling
def test_batch_independent(pool):
    model, (x, ptr, edges) = build(pool).double().eval(), random_batch()
    together = model(x.double(), ptr, edges)
    for graph in range(4):
        mask = index_from_ptr(ptr, len(x)) == graph
        alone = model(x[mask].double(), torch.tensor([0, int(mask.sum())]), edges.subgraph(mask))
        assert_close(alone[0], together[graph])


@every_pooling
def test_state_dict_round_trip(pool):
    model, batch = build(pool), random_batch()
    model(*batch)
    other = GraphNetwork(5, 3, model.settings)
    other.load_state_dict(copy.deepcopy(model).state_dict())
    assert_close(other.eval()(*batch), model.eval()(*batch))


@every_pooling
def test_a_batch_of_one_node_trains(pool):
    model, (x, ptr, edges) = build(pool), random_batch((1,))
    assert model(x, ptr, edges).isfinite().all()


def test_the_same_seed_builds_and_trains_the_same_network():
    batch = random_batch()
    results = []
    for _ in range(2):
        model = build("loop")
        torch.manual_seed(1)
        results.append(model(*batch))
    assert results[0].equal(results[1])


def test_it_learns_to_distinguish_triangles_from_paths():
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


def test_invalid_arguments_are_refused():
    x, ptr, edges = random_batch()
    with pytest.raises(ValueError, match="x must have 5 channels, got 4"):
        build("max")(x[:, :4], ptr, edges)
    with pytest.raises(ValueError, match="ptr must end at"):
        build("max")(x, ptr[:-1], edges)
    with pytest.raises(ValueError, match="in_channels must be at least 1, got 0; nodes without"):
        GraphNetwork(0, 3, NetworkSettings(pool="max"))
    with pytest.raises(ValueError, match="out_channels must be at least 1"):
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
def test_nodes_of_another_dtype_are_refused(pool, given, own):
    x, ptr, edges = random_batch()
    model = build(pool).to(own)
    message = (
        rf"^x must be of the dtype .* {own}, got {given}; .*x.to\({own}\) or model.to\({given}"
    )
    with pytest.raises(TypeError, match=message):
        model(x.to(given), ptr, edges)
    assert model(x.to(own), ptr, edges).dtype == own
    assert model.to(given)(x.to(given), ptr, edges).dtype == given


def test_autocast_takes_nodes_of_another_dtype_except_float64():
    x, ptr, edges = random_batch()
    with torch.autocast("cpu", torch.bfloat16):
        assert build("loop")(x.bfloat16(), ptr, edges).isfinite().all()
        for nodes, model in ((x.double(), build("loop")), (x, build("loop").double())):
            with pytest.raises(TypeError, match="x must be of the dtype"):
                model(nodes, ptr, edges)


def test_a_quantized_network():
    x, ptr, edges = random_batch((6, 9))
    model = build("max").eval()
    expected = model(x, ptr, edges)
    with warnings.catch_warnings(action="ignore"):  # torch.ao is deprecated
        quantized = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear})
    assert (quantized(x, ptr, edges) - expected).abs().max() < 0.5


def test_forward_hooks_on_inner_modules_fire():
    model, seen = build("loop"), set()
    for name, module in model.named_modules():
        module.register_forward_hook(lambda *_, name=name: seen.add(name))
    model(*random_batch())
    parts = {"base.layers.0", "base.layers.2.activation.norm", "pool.pools.0", "head.layers.1.norm"}
    assert parts <= seen


def test_second_derivatives_by_torch_func():
    x, ptr, edges = random_batch((6, 9))
    model = build("loop").double().eval()

    def penalty(x):
        return torch.func.grad(lambda x: model(x, ptr, edges).square().sum())(x).square().sum()

    x = x.double().requires_grad_()
    (found,) = torch.autograd.grad(penalty(x), x)
    direction = torch.randn_like(x)
    with torch.no_grad():
        slope = (penalty(x + 1e-6 * direction) - penalty(x - 1e-6 * direction)) / 2e-6
    assert_close((found * direction).sum(), slope, rtol=1e-4, atol=1e-6)


# The base.

PTR = torch.tensor([0, 6, 6, 15, 16])


def backbone(layers, **options):
    return Backbone(5, NetworkSettings(pool="max", width=4, layers=layers, **options))


def test_the_base_returns_all_layers_and_the_last():
    x, _, edges = random_batch()
    base = backbone(3, node_dropout=0.2).eval()
    everything, last = base(x, edges, PTR)
    for layer, output in zip(base.layers, everything.split(4, dim=1), strict=True):
        x = layer(x, edges)
        assert_close(output, x)
    assert_close(last, x)


def test_the_base_matches_its_equation():
    x, _, edges = random_batch()
    (layer,) = backbone(1, node_dropout=0.0).layers
    own, sent = (x @ part.T for part in layer.transforms.weight.chunk(2))

    def f(rows):
        rows = rows.relu()
        return (rows - rows.mean(0)) / (rows.var(0, correction=0) + 1e-5).sqrt()

    assert_close(layer(x, edges), dense_matrix(edges) @ f(sent) + f(own))


@pytest.mark.parametrize("read", ["all", "last"])
def test_either_output_of_the_base_has_gradients(read):
    x, _, edges = random_batch()
    base = backbone(2, node_dropout=0.0).double().eval()
    nodes, upstream = x.double().requires_grad_(), torch.randn(16, 4, dtype=torch.float64)
    everything, last = base(nodes, edges, PTR)
    (found,) = torch.autograd.grad(last if read == "last" else everything[:, 4:], nodes, upstream)
    first, second = base.layers
    (expected,) = torch.autograd.grad(second(first(nodes, edges), edges), nodes, upstream)
    assert_close(found, expected)


def test_dropped_nodes_are_zero_and_the_others_are_not_scaled():
    mask = node_mask(torch.rand(5000, 3), 0.2)
    assert mask.unique().tolist() == [0, 1]
    assert 0.75 < mask.mean() < 0.85


def test_nodes_are_dropped_in_training_only():
    x, _, edges = random_batch()
    base = backbone(3, node_dropout=0.5)
    assert any((part == 0).all(dim=1).any() for part in base(x, edges, PTR)[0].split(4, dim=1))
    base.eval()
    assert not any((part == 0).all(dim=1).any() for part in base(x, edges, PTR)[0].split(4, dim=1))


# The head.


@pytest.mark.parametrize("norm", [True, False])
def test_the_head_has_three_layers_and_dropout_after_the_first_two(norm):
    head = Head(10, 6, 3, dropout=0.5, norm=norm)
    linear = [module for module in head.modules() if isinstance(module, nn.Linear)]
    widths = [(layer.in_features, layer.out_features) for layer in linear]
    assert widths == [(10, 6), (6, 6), (6, 3)]
    assert sum(isinstance(module, nn.Dropout) for module in head.modules()) == 2
    assert any(isinstance(module, nn.BatchNorm1d) for module in head.modules()) == norm
    assert head(torch.randn(1, 10)).shape == (1, 3)  # a batch of one graph trains as well


def test_dropout_of_the_head_keeps_the_expected_value():
    head = Head(4, 200, 1, dropout=0.5, norm=False).double()
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.fill_(1.0)
    rows = torch.ones(2, 4, dtype=torch.float64)
    head(rows).sum().backward()
    dropped = (head.layers[-1].weight.grad == 0).double().mean()
    assert 0.1 < dropped < 0.4  # in both rows: a quarter
    outputs = torch.stack([head(rows) for _ in range(50)])
    assert_close(outputs.mean(), head.eval()(rows).mean(), rtol=0.1, atol=0.0)
    assert outputs.std() > 0
    assert torch.equal(head(rows), head(rows))


@pytest.mark.parametrize("pool", ["max", "diff", "loop"])
def test_the_vector_is_normalized_the_same_way_for_every_pooling(pool):
    torch.manual_seed(0)
    settings = NetworkSettings(pool=pool, width=8, slots=4, clusters=4, vector_norm=True)
    model = GraphNetwork(5, 2, settings).train()
    ptr = torch.cat([torch.zeros(1, dtype=torch.long), torch.randint(2, 5, (20,)).cumsum(0)])
    nodes = int(ptr[-1])
    edges = Edges.from_index(torch.randint(0, nodes, (2, 120)), nodes)
    vectors = model.represent(torch.randn(nodes, 5), ptr, edges)
    assert_close(vectors.mean(dim=0), torch.zeros(model.vector_channels), atol=1e-4, rtol=0)
    spread = vectors.std(dim=0, correction=0)
    assert ((spread > 0.9) | (spread < 0.1)).all()  # one, or a channel that does not vary
    free = GraphNetwork(5, 2, settings.model_copy(update={"vector_norm": False}))
    assert free.vector_norm is None
    assert sum(p.numel() for p in model.parameters()) == sum(p.numel() for p in free.parameters())


def test_baselines_of_one_layer_may_read_a_map_of_all():
    small = {"width": 8, "clusters": 4, "sorted_nodes": 10}
    for pool, maps in (("diff", True), ("topk", True), ("max", False), ("sort", False)):
        model = GraphNetwork(5, 2, NetworkSettings(pool=pool, baseline_layers="all", **small))
        assert (model.layer_map is not None) == maps
        last = NetworkSettings(pool=pool, baseline_layers="last", **small)
        assert GraphNetwork(5, 2, last).layer_map is None
    model = GraphNetwork(5, 2, NetworkSettings(pool="topk", baseline_layers="all", **small)).eval()
    x, ptr = torch.randn(6, 5), torch.tensor([0, 2, 6])
    edges = Edges.from_index(torch.tensor([[0, 2], [1, 3]]), 6)
    before = model(x, ptr, edges)
    with torch.no_grad():
        model.layer_map.weight[:, :8] += 1  # what is read of the first layer
    assert not torch.allclose(before, model(x, ptr, edges))
