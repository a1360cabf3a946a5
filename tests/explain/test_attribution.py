import numpy as np
import pytest
import torch

import lfds
from lfds.explain.attribution import (
    Representation,
    attribute,
    average_of,
    gradient_effects,
    log_odds,
    outputs_without,
    repeated,
    representation,
    scores_by,
)
from lfds.explain.capture import edges_of, latent_pools
from lfds.nn import Edges
from tests.explain.models import clouds, fitted, labels, paths


def parts(structure="loop"):
    model = fitted(structure)
    network = model.network_.eval()
    encoded = model.encoder_.transform(clouds())
    pools = latent_pools(network)
    average = representation(network, pools, encoded.batch(slice(None))).mean()
    return model, network, pools, encoded, average


def test_log_odds_are_those_of_the_probabilities():
    logits = torch.randn(5, 4)
    p = logits.softmax(dim=1)
    torch.testing.assert_close(log_odds(logits), torch.log(p / (1 - p)))


def test_effect_of_a_node_is_the_score_with_it_minus_the_score_without_it():
    model, network, pools, encoded, average = parts()
    batch = encoded.batch([3])
    found = attribute(network, pools, batch, model.decoder_, average)
    assert found.exact
    index = torch.stack([edges_of(batch).rows.column.long(), edges_of(batch).target])
    score = scores_by(model.decoder_)
    with torch.no_grad():
        whole = score(network(batch.x, batch.ptr, edges_of(batch)))[0]
        for node in (0, 7, 19):
            # The graph without the node, built anew.
            kept = [n for n in range(20) if n != node]
            number = {old: new for new, old in enumerate(kept)}
            pairs = [(number[a], number[b]) for a, b in index.T.tolist() if node not in (a, b)]
            edges = Edges.from_index(torch.tensor(pairs).T, 19)
            without = score(network(batch.x[kept], torch.tensor([0, 19]), edges))[0]
            torch.testing.assert_close(found.nodes[node], whole - without, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(found.scores, whole, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("structure", ["loop", "image+loop", "learned-spectral"])
def test_slots_and_statistics_sum_to_the_score(structure):
    model, network, pools, encoded, average = parts(structure)
    for number in (0, 9):
        found = attribute(network, pools, encoded.batch([number]), model.decoder_, average)
        assert [len(part) for part in found.slots] == [9] * len(pools)
        total = found.reference + found.beside + sum(part.sum(dim=0) for part in found.slots)
        torch.testing.assert_close(total, found.scores, rtol=0.02, atol=0.05)
        # Of several structures each has its own part.
        assert all(part.abs().sum() > 0 for part in found.slots)


def test_statistics_of_nodes_count_although_no_slot_holds_them():
    model, network, pools, encoded, average = parts()
    found = attribute(network, pools, encoded.batch([2]), model.decoder_, average)
    assert found.beside.abs().max() > 1e-4


def test_the_average_graph_explains_nothing():
    model, network, pools, encoded, _ = parts()
    batch = encoded.batch([5])
    own = representation(network, pools, batch)
    found = attribute(network, pools, batch, model.decoder_, own)
    torch.testing.assert_close(found.reference, found.scores)
    assert found.slots[0].abs().max() == 0


def test_average_of_batches_is_that_of_all_graphs():
    _, network, pools, encoded, average = parts()
    split = [encoded.batch(slice(0, 5)), encoded.batch(slice(5, 16))]
    found = average_of([(representation(network, pools, b).mean(), len(b)) for b in split])
    for one, other in zip(found.parts, average.parts, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
    assert isinstance(found, Representation)


def test_gradients_of_large_graphs_sum_to_the_way_from_the_mean_node():
    model, network, pools, encoded, average = parts()
    batch = encoded.batch([4])
    found = attribute(network, pools, batch, model.decoder_, average, largest_removal=5)
    assert not found.exact
    with torch.no_grad():
        everything, last = network.base(batch.x, edges_of(batch), batch.ptr)
        mean = everything.mean(dim=0, keepdim=True).expand_as(everything)
        start = network.head(network.pooled(mean, mean[:, -last.shape[1] :], batch.ptr, None))
    way = found.scores - scores_by(model.decoder_)(start)[0]
    score = scores_by(model.decoder_)
    with torch.no_grad():
        torch.testing.assert_close(
            found.nodes, gradient_effects(network.requires_grad_(False), batch, score)
        )
    network.requires_grad_(True)
    assert torch.sign(found.nodes.sum(dim=0)).tolist() == torch.sign(way).tolist()


def test_network_is_left_as_it_was():
    model, network, pools, encoded, average = parts()
    network.train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    representation(network, pools, encoded.batch([0, 1]))
    attribute(network, pools, encoded.batch([0]), model.decoder_, average)
    assert network.training
    assert all(weight.requires_grad for weight in network.parameters())
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert not network.base._forward_hooks
    network.eval()


def test_copies_of_a_graph_are_the_graph():
    _, network, _, encoded, _ = parts()
    batch = encoded.batch([6])
    many, several = repeated(batch, 3), encoded.batch([6, 6, 6])
    for name in ("x", "ptr", "edge_ptr", "edge_dst", "y"):
        assert torch.equal(getattr(many, name), getattr(several, name))
    masks = torch.ones(2, 20, dtype=torch.bool)
    with torch.no_grad():
        twice = outputs_without(network, batch, masks)
        once = network(batch.x, batch.ptr, edges_of(batch))
    torch.testing.assert_close(twice, once.expand(2, -1), rtol=1e-4, atol=1e-5)


def test_graphs_of_one_node_and_of_none_are_explained():
    model, network, pools, _, average = parts()
    encoded = model.encoder_.transform(paths())
    for number, count in ((0, 1), (6, 0)):
        found = attribute(network, pools, encoded.batch([number]), model.decoder_, average)
        assert found.nodes.shape == (count, 8)
        assert found.scores.isfinite().all()


def test_regressors_are_explained_in_their_units():
    y = np.linspace(100, 200, len(clouds()))
    model = lfds.LFDSRegressor("loop", slots=9, epochs=2, options={"width": 8, "layers": 2})
    model.fit(clouds(), y)
    made = lfds.atlas(model, clouds(), show=[1]).numbers
    (view,) = made.graphs
    np.testing.assert_allclose(view.scores, made.values[1], rtol=1e-4)
    np.testing.assert_array_equal(view.support(0), view.effects[:, 0])
    assert not view.classes


def test_support_is_the_fall_of_the_probability():
    made = lfds.atlas(fitted(), clouds(), labels(), show=[2]).numbers
    (view,) = made.graphs
    output = made.output(view)
    p = made.probabilities[2, output]
    assert output == made.predicted[2]
    without = p - view.support(output)
    assert ((without >= -1e-6) & (without <= 1 + 1e-6)).all()
    order = np.argsort(view.support(output), kind="stable")
    assert (np.diff(view.effects[order, output]) >= -1e-3).all()
