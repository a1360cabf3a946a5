"""What people do to torch modules works on every module inside the layer."""

import copy

import pytest
import torch
from torch import nn
from torch.ao.quantization import quantize_dynamic
from torch.nn.utils import parametrizations, parametrize, prune, spectral_norm
from torch.optim.swa_utils import AveragedModel
from torch.testing import assert_close

import lfds

X = torch.randn(30, 4, generator=torch.Generator().manual_seed(0))
INDEX = torch.arange(30) % 5


def make_pool(**options) -> lfds.LFDSPool:
    torch.manual_seed(0)
    return lfds.LFDSPool(4, lfds.Loop(5), **options)


def weighted_parts(pool):
    """The inner products and convolutions, by name."""
    return [name for name, part in pool.named_modules() if isinstance(part, nn.Linear)]


PRODUCTS = ["input_map", "layers.0.transforms", "layers.1.transforms", "output_map"]
NORMS = ["node_norm.norm", "layers.0.activation.norm", "layers.1.activation.norm"]
OPTIONS = {"hidden_channels": 4, "out_channels": 3}


def test_these_are_all_products_and_norms():
    pool = make_pool(**OPTIONS)
    assert sorted(weighted_parts(pool)) == sorted(PRODUCTS)
    norms = [name for name, part in pool.named_modules() if isinstance(part, nn.BatchNorm1d)]
    assert sorted(norms) == sorted(NORMS)


@pytest.mark.parametrize("part", [*PRODUCTS, *NORMS])
@pytest.mark.parametrize("rows", [1, 30])
def test_a_hook_changes_the_output(part, rows):
    pool = make_pool(**OPTIONS)
    pool(X, INDEX)  # statistics that are not the initial ones
    before = copy.deepcopy(pool)(X[:rows], INDEX[:rows])
    pool.get_submodule(part).register_forward_hook(lambda module, args, output: 3 * output + 1)
    assert not torch.allclose(pool(X[:rows], INDEX[:rows]), before)


@pytest.mark.parametrize("part", PRODUCTS)
def test_pruned_weights_have_no_effect_and_are_reloaded(part):
    pool = make_pool(**OPTIONS)
    product = pool.get_submodule(part)
    prune.l1_unstructured(product, "weight", amount=0.5)
    pool(X, INDEX).square().sum().backward()
    assert (product.weight_orig.grad[product.weight_mask == 0] == 0).all()
    assert product.weight_orig.grad.abs().sum() > 0
    expected = pool.eval()(X, INDEX)
    again = make_pool(**OPTIONS)
    prune.identity(again.get_submodule(part), "weight")
    again.load_state_dict(pool.state_dict())
    assert_close(again.eval()(X, INDEX), expected)
    prune.remove(product, "weight")
    assert_close(pool(X, INDEX), expected)


@pytest.mark.parametrize("part", PRODUCTS)
@pytest.mark.parametrize("norm", [spectral_norm, parametrizations.spectral_norm])
def test_spectral_norm_learns_and_limits_the_weights(part, norm):
    pool = make_pool(**OPTIONS)
    product = pool.get_submodule(part)
    with torch.no_grad():
        product.weight.mul_(20)
    norm(product, n_power_iterations=20)
    pool(X, INDEX).square().sum().backward()
    learned = (value.grad for name, value in product.named_parameters() if "weight" in name)
    assert next(learned).abs().sum() > 0
    assert_close(
        torch.linalg.matrix_norm(product.weight, ord=2), torch.tensor(1.0), rtol=0.05, atol=0
    )


def test_a_parametrization_is_applied():
    class Negated(nn.Module):
        def forward(self, weight):
            return -weight

    pool = make_pool().eval()
    turned = copy.deepcopy(pool)
    with torch.no_grad():
        turned.layers[0].transforms.weight.neg_()
    parametrize.register_parametrization(pool.layers[0].transforms, "weight", Negated())
    assert_close(pool(X, INDEX), turned(X, INDEX))


REPLACEMENTS = {
    "LayerNorm": nn.LayerNorm,
    "Identity": lambda width: nn.Identity(),
    "affine=False": lambda width: nn.BatchNorm1d(width, affine=False),
    "no running statistics": lambda width: nn.BatchNorm1d(width, track_running_stats=False),
    "GroupNorm": lambda width: nn.GroupNorm(2, width),
}


@pytest.mark.parametrize("part", NORMS)
@pytest.mark.parametrize("make", REPLACEMENTS.values(), ids=REPLACEMENTS)
def test_another_norm_in_place_of_a_batch_norm_is_used(part, make):
    pool = make_pool()
    owner, _, name = part.rpartition(".")
    norm, seen = make(getattr(pool.get_submodule(owner), name).num_features), []
    norm.register_forward_hook(lambda module, args, output: seen.append(output.shape[0]))
    setattr(pool.get_submodule(owner), name, norm)
    pool(X, INDEX).sum().backward()
    assert pool.eval()(X, INDEX).isfinite().all()
    assert len(seen) == 2
    pool.reset_parameters()


@pytest.mark.parametrize("make", [nn.LayerNorm, lambda width: nn.Identity()])
def test_the_norm_of_the_nodes_may_be_any_module(make):
    pool = make_pool()
    pool.node_norm = make(4)
    assert pool(X, INDEX).isfinite().all()
    assert pool(X[:1]).isfinite().all()
    pool.reset_parameters()


def test_batch_norms_become_synchronized_ones():
    pool = make_pool()
    synchronized = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(pool))
    assert isinstance(synchronized.layers[0].activation.norm, nn.SyncBatchNorm)
    assert_close(synchronized(X, INDEX), pool(X, INDEX))
    assert_close(synchronized(X[:1]), pool(X[:1]))
    assert_close(synchronized.eval()(X, INDEX), pool.eval()(X, INDEX))


def test_a_single_row_leaves_the_statistics_and_the_mode():
    pool = make_pool()
    pool(X, INDEX)
    before = copy.deepcopy(pool.node_norm.state_dict())
    pool(X[:1])
    assert_close(pool.node_norm.state_dict(), before)
    assert all(module.training for module in pool.modules())


def test_weights_are_averaged():
    average = AveragedModel(make_pool(), use_buffers=True)
    other = make_pool()
    nn.init.zeros_(other.anchors.free)
    average.update_parameters(make_pool())
    average.update_parameters(other)
    assert_close(average.module.anchors.free, make_pool().anchors.free / 2)
    assert average(X, INDEX).shape == (5, 16)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
def test_products_are_quantized():
    pool = make_pool(hidden_channels=4).eval()
    quantized = quantize_dynamic(pool, {nn.Linear})
    assert "quantized" in type(quantized.layers[0].transforms).__module__
    assert_close(quantized(X, INDEX), pool(X, INDEX), atol=0.3, rtol=0.3)


@pytest.mark.plain
def test_script_and_fx_are_refused_in_one_line():
    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.pool = make_pool()

        def forward(self, x, index):
            return self.pool(x, index)

    tools = {
        "torch.jit.script": torch.jit.script,
        "torch.fx.symbolic_trace": torch.fx.symbolic_trace,
    }
    for name, tool in tools.items():
        for module in (make_pool(), Network()):
            with pytest.raises(RuntimeError, match=f"^{name} cannot .*use torch.export") as refused:
                tool(module)
            assert "\n" not in str(refused.value)
