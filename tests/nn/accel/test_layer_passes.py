"""Both ways through a layer give one network, and small work is done natively."""

import copy
from unittest.mock import patch

import pytest
import torch
from torch.testing import assert_close

from lfds import LFDSPool
from lfds.nn import Edges, GraphNetwork, NetworkSettings, accel
from lfds.nn.accel.dispatch import LITTLE, runs_natively
from lfds.nn.models.backbone import GraphLayer
from lfds.nn.ops.segment import ragged_max, slot_max

EDGES = Edges.from_index(torch.tensor([[0, 1, 2, 3, 4, 0], [1, 0, 3, 2, 0, 4]]), 6)
PTR = torch.tensor([0, 2, 6])
needs_numba = pytest.mark.skipif(not accel.numba_installed(), reason="needs numba: lfds[fast]")


@pytest.fixture
def in_torch():
    """As if numba were not installed."""
    with patch("lfds.nn.accel.numba_installed", return_value=False):
        yield


def trained(pool, training, dtype, layers):
    """Outputs, gradients and statistics of a network after a step forward and back."""
    torch.manual_seed(1)
    told = {"width": 8, "head_width": 8, "slots": 9, "node_dropout": 0.3, "pooled_layers": layers}
    settings = NetworkSettings(pool=pool, **told)
    model = GraphNetwork(5, 3, settings).to(dtype).train(training)
    for part in (*model.parameters(), *model.buffers()):  # statistics are not those of birth
        if part.is_floating_point():
            part.data.add_(0.3 * torch.rand_like(part))
    out = model(torch.randn(6, 5, dtype=dtype), PTR, EDGES)
    out.square().sum().backward()
    return out, [p.grad for p in model.parameters()], copy.deepcopy(list(model.buffers()))


# A mix of layers adds up gradients near 1e5 to some near zero, for which single precision is too
# coarse whichever way is taken: it is compared in double precision.
@needs_numba
@pytest.mark.parametrize(
    ("dtype", "layers"),
    [(torch.float32, "last"), (torch.float64, "last"), (torch.float64, "all")],
)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("pool", ["max", "loop", "sequence", "image"])
def test_a_network_is_the_same_by_torch_and_natively(pool, training, dtype, layers):
    natively = trained(pool, training, dtype, layers)
    with patch("lfds.nn.accel.numba_installed", return_value=False):
        assert_close(natively, trained(pool, training, dtype, layers), rtol=2e-4, atol=2e-5)


@needs_numba
def test_large_work_is_left_to_threads_where_there_are_some():
    small, large = torch.zeros(LITTLE), torch.zeros(LITTLE + 1)
    assert runs_natively(small)
    assert runs_natively(large)  # tests run in one thread
    with patch("torch.get_num_threads", return_value=4):
        assert runs_natively(small)
        assert not runs_natively(large)
    assert not runs_natively(small.half())
    assert not runs_natively(small.to("meta"))


@pytest.mark.usefixtures("in_torch")
def test_without_numba_everything_is_done_by_torch():
    x = torch.randn(6, 4, requires_grad=True)
    assert not runs_natively(x)
    (grad,) = torch.autograd.grad(ragged_max(x, PTR).sum() + slot_max(x.view(2, 3, 4)).sum(), x)
    assert grad.sum() == 16  # two times two graphs of four channels
    assert_close(Edges.from_rows(EDGES.rows.ptr, EDGES.rows.column).columns, EDGES.columns)


@needs_numba
def test_a_maximum_notices_that_its_input_was_changed():
    x = torch.randn(6, 4, requires_grad=True)
    nodes = x * 1
    out = ragged_max(nodes, PTR)
    nodes += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


@needs_numba
def test_columns_that_are_not_contiguous():
    x = torch.randn(4, 6).T.requires_grad_()
    ragged_max(x, PTR).sum().backward()
    assert x.grad.sum() == 8


BOTH = pytest.mark.parametrize("way", [pytest.param("natively", marks=needs_numba), "by torch"])


def by(way):
    return patch("lfds.nn.accel.numba_installed", return_value=way == "natively")


@BOTH
def test_without_a_momentum_statistics_are_means_over_batches(way):
    layer, norm = GraphLayer(5, 4), torch.nn.BatchNorm1d(8, momentum=None)
    layer.activation.norm.momentum = None
    with by(way):
        for _ in range(3):
            x = torch.randn(6, 5)
            layer(x, EDGES)
            norm((x @ layer.transforms.weight.T).relu())
    assert_close(layer.activation.norm.running_mean, norm.running_mean)
    assert_close(layer.activation.norm.running_var, norm.running_var)


@BOTH
@pytest.mark.parametrize("inference", [True, False])
def test_nodes_are_multiplied_with_what_is_kept_of_them(way, inference):
    layer, x = GraphLayer(5, 4).eval(), torch.randn(6, 5)
    kept = torch.tensor([1.0, 0.5, 0.0, 2.0, 1.0, 0.25])[:, None]
    with by(way), torch.inference_mode(inference):
        assert_close(layer(x, EDGES, kept), kept * layer(x, EDGES), rtol=1e-4, atol=1e-5)


@BOTH
def test_layers_that_were_replaced_are_called(way):
    class Doubled(torch.nn.Linear):
        def forward(self, x):
            return 2 * super().forward(x)

    layer, x = GraphLayer(5, 4).eval(), torch.randn(6, 5)
    before = layer(x, EDGES)
    layer.transforms = Doubled(5, 8, bias=False)
    layer.transforms.weight.data.zero_()
    with by(way):
        assert not torch.allclose(layer(x, EDGES), before)
        assert_close(layer(x, EDGES), layer(2 * x, EDGES))  # nothing but shifts is left


@BOTH
def test_latent_layers_that_were_replaced_are_called(way):
    pool, (x, ptr) = LFDSPool(4, "loop").eval(), (torch.randn(6, 4), PTR)
    pool.layers[0].transforms = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU())
    with by(way):
        assert pool(x, ptr=ptr).shape == (2, 8)
