import pytest
import torch
from torch.testing import assert_close

import lfds
from lfds.explain import ExplainError
from lfds.explain.capture import latent_pools, trace_pools
from lfds.nn import Edges, GraphNetwork, NetworkSettings
from tests.explain.models import clouds, fitted, pool_inputs


def encoded_batch(model):
    return model.encoder_.transform(clouds()).batch(range(5))


def test_a_trace_is_what_the_pool_returns():
    model = fitted()
    network, batch = model.network_, encoded_batch(model)
    edges = Edges.from_rows(batch.edge_ptr, batch.edge_dst)
    outputs, (trace,) = trace_pools(network, latent_pools(network), batch)
    network.eval()
    with torch.no_grad():
        nodes = pool_inputs(network, batch)
        (pool,) = latent_pools(network)
        assert_close(outputs, network(batch.x, batch.ptr, edges))
        assert_close(trace.shares, pool.shares(nodes, ptr=batch.ptr))
        assert_close(trace.picks, pool.picks(nodes, ptr=batch.ptr))
    mass = [trace.shares[20 * g : 20 * (g + 1)].mean(dim=0) for g in range(5)]
    assert_close(trace.mass, torch.stack(mass))


@pytest.mark.parametrize("training", [True, False])
def test_tracing_does_not_change_the_network(training):
    model = fitted()
    network = model.network_.train(training)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    trace_pools(network, latent_pools(network), encoded_batch(model))
    assert network.training == training
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
    assert not any(pool._forward_pre_hooks for pool in latent_pools(network))


def test_tracing_uses_evaluation_mode():
    model = fitted()
    network, pools = model.network_.train(), latent_pools(model.network_)
    first, second = (trace_pools(network, pools, encoded_batch(model))[0] for _ in range(2))
    assert_close(first, second)


def test_a_network_without_a_latent_structure_is_refused():
    network = GraphNetwork(3, 2, NetworkSettings(pool="max"))
    message = r"latent structure, not pool='max'; fit one with image, "
    with pytest.raises(ExplainError, match=message):
        latent_pools(network)


def test_a_graph_without_nodes_has_no_mass():
    model = fitted()
    empty = lfds.GraphSet.from_arrays([0, 1], [[], []])
    batch = model.encoder_.transform(empty).batch(range(2))
    _, (trace,) = trace_pools(model.network_, latent_pools(model.network_), batch)
    assert trace.mass[0].tolist() == [0.0] * 9
    assert float(trace.mass[1].sum()) == pytest.approx(1)
