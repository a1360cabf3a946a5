import pytest
import torch
from torch.testing import assert_close

import lfds
from lfds.explain.capture import latent_pools, look
from lfds.explain.errors import ExplainError
from lfds.nn import Edges, GraphNetwork, NetworkSettings
from tests.explain.models import clouds, fitted, nodes_as_pooled


def encoded_batch(model):
    return model.encoder_.transform(clouds()).batch(range(5))


def test_a_look_tells_what_the_pooling_itself_tells():
    model = fitted()
    network, batch = model.network_, encoded_batch(model)
    edges = Edges.from_rows(batch.edge_ptr, batch.edge_dst)
    logits, (seen,) = look(network, latent_pools(network), batch)
    network.eval()
    with torch.no_grad():
        nodes = nodes_as_pooled(network, batch)
        (pool,) = latent_pools(network)
        assert_close(logits, network(batch.x, batch.ptr, edges))
        assert_close(seen.shares, pool.shares(nodes, ptr=batch.ptr))
        assert_close(seen.picks, pool.picks(nodes, ptr=batch.ptr))
    by_hand = [seen.shares[20 * g : 20 * (g + 1)].mean(dim=0) for g in range(5)]
    assert_close(seen.mass, torch.stack(by_hand))


@pytest.mark.parametrize("training", [True, False])
def test_a_look_leaves_no_trace(training):
    model = fitted()
    network = model.network_.train(training)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    look(network, latent_pools(network), encoded_batch(model))
    assert network.training == training
    assert all(torch.equal(before[name], value) for name, value in network.state_dict().items())
    assert not any(pool._forward_pre_hooks for pool in latent_pools(network))


def test_a_look_does_not_drop_slots():
    model = fitted()
    network, pools = model.network_.train(), latent_pools(model.network_)
    first, second = (look(network, pools, encoded_batch(model))[0] for _ in range(2))
    assert_close(first, second)


def test_a_network_without_structure_is_refused_by_name():
    network = GraphNetwork(3, 2, NetworkSettings(pool="max"))
    with pytest.raises(ExplainError, match=r"this one pools by 'max'; fit one with loop, image"):
        latent_pools(network)


def test_a_graph_without_nodes_has_no_mass():
    model = fitted()
    empty = lfds.GraphSet.from_arrays([0, 1], [[], []])
    batch = model.encoder_.transform(empty).batch(range(2))
    _, (seen,) = look(model.network_, latent_pools(model.network_), batch)
    assert seen.mass[0].tolist() == [0.0] * 9
    assert float(seen.mass[1].sum()) == pytest.approx(1)
