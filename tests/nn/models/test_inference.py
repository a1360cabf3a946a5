"""A folded copy of a network gives the outputs of the network."""

import copy
from functools import partial

import pytest
import torch
from tests.nn.cases import POOLING_NAMES, STRUCTURES, directed_edges, small_settings
from torch import nn
from torch.nn.utils import prune
from torch.testing import assert_close

from lfds.nn import Edges, GraphNetwork
from lfds.nn.models import inference
from lfds.nn.models.inference import FoldedActivation, inference_copy
from lfds.nn.spatial import Activation


def random_batch(sizes=(4, 0, 1, 9, 6, 2), seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    x = torch.randn(sum(sizes), 5, generator=generator).to(dtype)
    return x, ptr, directed_edges(x, ptr)


def trained(pool="loop", dtype=torch.float64, **options):
    """A network whose statistics, scales (of both signs) and shifts are not the initial ones."""
    torch.manual_seed(1)
    model = GraphNetwork(5, 3, small_settings(pool, **options)).to(dtype)
    for seed in range(3):
        model(*random_batch((5, 7, 3), seed, dtype))
    for part in model.modules():
        if isinstance(part, nn.BatchNorm1d) and part.affine:
            nn.init.normal_(part.weight)
            nn.init.normal_(part.bias)
    for pool in getattr(model.pool, "pools", ()):
        if pool.counts is not None:
            nn.init.normal_(pool.counts.direction)
    return model.eval()


OPTIONS = [
    *({"pool": name} for name in POOLING_NAMES),
    *({"pool": name, "pooled_layers": "last", "node_norm": False} for name in STRUCTURES),
    {"pool": "loop+image"},
    {"pool": "loop+image", "pooled_layers": "last", "blend": True},
    {"pool": "+".join(STRUCTURES), "depth": 1},
    {"depth": 3, "readout": "max+mean"},
    {"reduction": "sum", "blend": True, "readout": "max"},
    {"reduction": "mass", "counts": False, "anchors": "mixture"},
    {"anchors": "generated", "blend": True},
    {"node_norm": False},
    {"layers": 1},
    {"layers": 4, "head_norm": False},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_outputs_are_the_same_up_to_rounding(options, dtype):
    model, batch = trained(dtype=dtype, **options), random_batch(dtype=dtype)
    tolerance = {"rtol": 1e-3, "atol": 1e-3} if dtype == torch.float32 else {}
    folded = inference_copy(model)
    assert_close(folded(*batch), model(*batch).detach(), **tolerance)
    assert_close(folded.represent(*batch), model.represent(*batch).detach(), **tolerance)


@pytest.mark.parametrize("pool", STRUCTURES)
def test_all_batch_norms_but_those_of_nodes_without_a_map_are_folded(pool):
    folded = inference_copy(trained(pool))
    norms = [part for part in folded.modules() if isinstance(part, nn.BatchNorm1d)]
    assert norms == [folded.vector_norm.norm]  # vectors of graphs stay what they were
    assert any(isinstance(part, FoldedActivation) for part in folded.modules())
    last = inference_copy(trained(pool, pooled_layers="last", vector_norm=False))
    assert sum(isinstance(part, nn.BatchNorm1d) for part in last.modules()) == 1


def test_the_network_is_left_as_it_is():
    model, batch = trained("loop+image").train(), random_batch()
    state = copy.deepcopy(model.state_dict())
    modes = [module.training for module in model.modules()]
    types = [type(module) for module in model.modules()]
    folded = inference_copy(model)
    assert_close(model.state_dict(), state, rtol=0, atol=0)
    assert [module.training for module in model.modules()] == modes
    assert [type(module) for module in model.modules()] == types
    assert all(parameter.requires_grad for parameter in model.parameters())
    model(*batch).sum().backward()  # and can be trained on
    assert not folded.training


def test_the_copy_does_not_follow_the_network():
    model, batch = trained(), random_batch()
    folded = inference_copy(model)
    before = folded(*batch)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    assert torch.equal(folded(*batch), before)
    assert not before.requires_grad


def test_structures_side_by_side_have_maps_of_their_own_afterwards():
    model = trained("loop+image")
    one, other = model.pool.pools
    assert one.input_map is other.input_map
    one, other = inference_copy(model).pool.pools
    assert one.input_map is not other.input_map
    assert (one.node_norm, other.node_norm) == (None, None)


def test_scales_of_zero_and_below():
    model, batch = trained(), random_batch()
    with torch.no_grad():
        for part in model.modules():
            if isinstance(part, nn.BatchNorm1d) and part.affine:
                part.weight[::2] = 0.0
                part.weight[1::2].abs_().neg_()
    assert_close(inference_copy(model)(*batch), model(*batch).detach())


@pytest.mark.parametrize("width", [2, 5])
@pytest.mark.parametrize("make", [nn.Linear, partial(nn.Conv1d, kernel_size=3)])
def test_an_activation_is_folded_into_the_product_before_it(make, width):
    product, activation = make(4, width).double(), Activation(width).double()
    nn.init.normal_(activation.norm.weight)
    nn.init.normal_(activation.norm.bias)
    x = torch.randn((6, 4) if isinstance(product, nn.Linear) else (6, 4, 5)).double()

    def rows():
        return product(x) if x.dim() == 2 else product(x).mT

    activation(rows())
    expected = activation.eval()(rows()).detach()
    folded = FoldedActivation(product, activation)
    assert_close(folded(rows().detach()), expected)


def broken_sign(norm):
    scale, shift = right(norm)
    return scale.abs(), shift


def broken_shift(norm):
    scale, shift = right(norm)
    return scale, 0 * shift


def broken_epsilon(norm):
    scale, shift = right(norm)
    return scale * (norm.running_var + norm.eps).sqrt() / norm.running_var.sqrt(), shift


right = inference.scale_and_shift


@pytest.mark.parametrize("broken", [broken_sign, broken_shift, broken_epsilon])
def test_a_broken_fold_is_noticed(broken, monkeypatch):
    model, batch = trained(), random_batch()
    monkeypatch.setattr(inference, "scale_and_shift", broken)
    with pytest.raises(AssertionError, match="not close"):
        assert_close(inference_copy(model)(*batch), model(*batch).detach())


@pytest.mark.parametrize("part", ["head", "pool", "base"])
def test_a_norm_that_is_not_folded_is_noticed(part):
    model, batch = trained(), random_batch()
    folded = inference_copy(model)
    for module in folded.get_submodule(part).modules():
        if isinstance(module, FoldedActivation):
            module.shift.zero_()
        if part == "head" and isinstance(module, nn.Linear):
            module.bias.zero_()
    with pytest.raises(AssertionError, match="not close"):
        assert_close(folded(*batch), model(*batch).detach())


def test_edges_without_the_transposed_matrix_suffice():
    model, (x, ptr, edges) = trained(), random_batch()
    forward_only = Edges.forward_only(edges.rows.ptr, edges.rows.column)
    assert torch.equal(
        inference_copy(model)(x, ptr, forward_only), inference_copy(model)(x, ptr, edges)
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_that_are_not_finite_stay_visible(value):
    model, (x, ptr, edges) = trained("max"), random_batch((4, 8, 3))
    x[5] = value
    outputs = inference_copy(model)(x, ptr, edges)
    assert not outputs[1].isfinite().all()
    assert outputs[[0, 2]].isfinite().all()


def test_modules_of_other_types_are_left_alone():
    class Replaced(nn.Linear):
        """A product that is not torch's own."""

    model, batch = trained(), random_batch()
    (pool,) = model.pool.pools
    replaced = Replaced(24, 8, bias=False).double()
    replaced.load_state_dict(pool.input_map.state_dict())
    pool.input_map = replaced
    folded = inference_copy(model)
    assert folded.pool.pools[0].node_norm is not None
    assert_close(folded(*batch), model(*batch).detach())


def turned(module, args, output):
    return 2 * output + 1


def with_hook(module):
    module.register_forward_hook(turned)


def with_pruning(module):
    prune.random_unstructured(module, "weight", amount=0.5)


def with_spectral_norm(module):
    nn.utils.spectral_norm(module)


def with_weight_norm(module):
    nn.utils.parametrizations.weight_norm(module)


def with_other_forward(module):
    forward = module.forward
    module.forward = lambda x: 2 * forward(x)


PRODUCTS = ["pool.pools.0.layers.0.transforms", "pool.pools.0.input_map", "head.layers.3"]
CHANGES = [with_hook, with_pruning, with_spectral_norm, with_weight_norm, with_other_forward]
AROUND = [
    "pool.pools.0.layers.1.activation",
    "pool.pools.0.layers.1.activation.norm",
    "pool.pools.0.node_norm",
    "pool.pools.0.node_norm.norm",
    "head.layers",
    "head.layers.1",
    "head.layers.1.norm",
    "head.layers.2",
]


@pytest.mark.parametrize(
    ("part", "change"),
    [(part, change) for part in PRODUCTS for change in CHANGES]
    + [(part, change) for part in AROUND for change in (with_hook, with_other_forward)],
)
def test_modules_that_were_changed_are_not_folded(part, change):
    model, batch = trained(), random_batch()
    change(model.get_submodule(part))
    model.train()(*random_batch((5, 7, 3)))  # the norms get used to it
    model.eval()
    assert_close(inference_copy(model)(*batch), model(*batch).detach())


def test_a_change_that_is_folded_is_noticed(monkeypatch):
    model, batch = trained(), random_batch()
    with_hook(model.get_submodule("pool.pools.0.layers.0.transforms"))
    monkeypatch.setattr(inference, "is_plain", lambda module, *types: type(module) in types)
    with pytest.raises(AssertionError, match="not close"):
        assert_close(inference_copy(model)(*batch), model(*batch).detach())


NORMS = {
    "LayerNorm": nn.LayerNorm,
    "Identity": lambda width: nn.Identity(),
    "no running statistics": lambda width: nn.BatchNorm1d(width, track_running_stats=False),
    "SyncBatchNorm": nn.SyncBatchNorm,
}


@pytest.mark.parametrize("make", NORMS.values(), ids=NORMS)
@pytest.mark.parametrize(
    ("part", "width"),
    [
        ("base.layers.0.activation", 16),
        ("pool.pools.0.layers.0.activation", 16),
        ("pool.pools.0.node_norm", 8),
        ("head.layers.1", 8),
    ],
)
def test_other_norms_are_not_folded(part, width, make):
    model, batch = trained(), random_batch()
    model.get_submodule(part).norm = make(width).double().eval()
    assert_close(inference_copy(model)(*batch), model(*batch).detach())


def test_products_used_twice_are_not_folded():
    model, batch = trained(), random_batch()
    first, second = model.pool.pools[0].layers
    second.transforms = first.transforms
    assert_close(inference_copy(model)(*batch), model(*batch).detach())
