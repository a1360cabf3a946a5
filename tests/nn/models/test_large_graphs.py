"""Graphs with very many nodes: some rows at a time in inference, with the same result."""

import pytest
import torch

from lfds.config.network import NetworkSettings
from lfds.nn import Edges, GraphNetwork, LFDSPool, chunks
from lfds.nn.models import backbone
from lfds.nn.models.inference import inference_copy
from lfds.nn.pool import LatentPool

NODES = 50


@pytest.fixture(params=["loop", "max+mean", "stats", "topk"])
def network(request):
    torch.manual_seed(0)
    made = GraphNetwork(3, 2, NetworkSettings(pool=request.param, width=20)).eval()
    for module in made.modules():
        if isinstance(module, torch.nn.BatchNorm1d):  # otherwise there is nothing to fold
            module.running_mean.uniform_(-1, 1)
            module.running_var.uniform_(0.5, 2)
    return made


@pytest.fixture
def batch():
    torch.manual_seed(1)
    x, ptr = torch.randn(NODES, 3), torch.tensor([0, 30, 30, NODES])
    pairs = [(int(a), int(b)) for a, b in torch.randint(0, 30, (60, 2))]  # the rest has no edges
    index = torch.tensor(sorted(set(pairs), key=lambda pair: (pair[1], pair[0]))).T
    return x, ptr, Edges.from_index(index, NODES)


def some_rows_at_a_time(monkeypatch):
    """Let a graph of few nodes be a large one; return the calls."""
    calls = []
    original = backbone.in_chunks

    def counted(*arguments):
        calls.append(1)
        return original(*arguments)

    monkeypatch.setattr(backbone, "in_chunks", counted)
    monkeypatch.setattr(chunks, "LARGE", 10)
    monkeypatch.setattr(chunks, "ROWS_AT_A_TIME", 7)
    return calls


@pytest.mark.parametrize("folded", [False, True])
def test_some_rows_at_a_time_give_the_same_outputs(network, batch, folded, monkeypatch):
    used = inference_copy(network) if folded else network
    with torch.inference_mode():
        expected = used(*batch)
        calls = some_rows_at_a_time(monkeypatch)
        found = used(*batch)
    assert calls == [1]
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def test_training_gradients_and_hooks_see_whole_layers(network, batch, monkeypatch):
    calls = some_rows_at_a_time(monkeypatch)
    network(*batch).sum().backward()
    seen = []
    network.base.layers[0].register_forward_hook(lambda *given: seen.append(given[2].shape))
    with torch.no_grad():
        network(*batch)
    assert seen == [(NODES, 20)]
    assert calls == []


@pytest.mark.parametrize("reduction", ["sum", "mean", "mass"])
@pytest.mark.parametrize("counts", [False, True])
def test_a_layer_distributes_some_rows_at_a_time(batch, reduction, counts, monkeypatch):
    x, ptr, _ = batch
    torch.manual_seed(2)
    pool = LFDSPool(3, "image", hidden_channels=8, reduction=reduction, counts=counts).eval()
    placed = []
    original = LatentPool._placed_in_chunks

    def counted(self, *arguments):
        placed.append(1)
        return original(self, *arguments)

    monkeypatch.setattr(LatentPool, "_placed_in_chunks", counted)
    with torch.no_grad():
        expected = pool(x, ptr=ptr)
        some_rows_at_a_time(monkeypatch)
        found = pool(x, ptr=ptr)
    assert placed == [1]
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("options", [{"anchors": "generated"}, {"blend": True}])
def test_what_depends_on_the_whole_graph_is_computed_at_once(batch, options, monkeypatch):
    x, ptr, _ = batch
    pool = LFDSPool(3, "loop", **options).eval()
    with torch.no_grad():
        expected = pool(x, ptr=ptr)
        some_rows_at_a_time(monkeypatch)
        assert pool(x, ptr=ptr).equal(expected)


def test_hooks_of_the_layer_see_all_nodes(batch, monkeypatch):
    x, ptr, _ = batch
    pool = LFDSPool(3, "loop", hidden_channels=8).eval()
    some_rows_at_a_time(monkeypatch)
    seen = []
    pool.input_map.register_forward_hook(lambda *given: seen.append(given[2].shape))
    with torch.no_grad():
        pool(x, ptr=ptr)
    assert seen == [(NODES, 8)]
