import pytest
import torch

from lfds.data.encodings.encoder import Encoder
from lfds.nn import Edges, GraphNetwork, NetworkSettings
from lfds.train.batchnorm import MAX_GRAPHS, calibration_rows, recalibrate
from lfds.train.epoch import batches
from tests.compare.small import graphs


def model_and_graphs(**options):
    encoded = Encoder().fit(graphs()).transform(graphs())
    torch.manual_seed(0)
    small = {"pool": "loop", "width": 8, "head_width": 8, "slots": 4, "node_dropout": 0.9}
    network = NetworkSettings.model_validate({**small, **options})
    return GraphNetwork(encoded.x.shape[1], 2, network), encoded


def norms(model):
    return {name: part for name, part in model.named_modules() if hasattr(part, "running_var")}


def statistics(model):
    parts = norms(model).values()
    return torch.cat([torch.cat([norm.running_mean, norm.running_var]) for norm in parts])


def first_rows(model, encoded):
    """The input of the first batch norm of the base."""
    return model.base.layers[0].transforms(encoded.x).relu()


def test_statistics_are_those_of_graphs_without_dropped_nodes():
    model, encoded = model_and_graphs()
    recalibrate(model, [encoded.batch(slice(0, len(encoded)))])
    rows = first_rows(model, encoded)
    norm = model.base.layers[0].activation.norm
    torch.testing.assert_close(norm.running_mean, rows.mean(dim=0))
    torch.testing.assert_close(norm.running_var, rows.var(dim=0))


def test_later_layers_are_calibrated_on_the_outputs_of_the_evaluated_network():
    """With dropped nodes, as in training, the inputs of the second layer differ."""
    model, encoded = model_and_graphs()
    whole = [encoded.batch(slice(0, len(encoded)))]
    recalibrate(model, whole)
    calibrated = statistics(model)
    dropping, _ = model_and_graphs()
    dropping.train()
    for norm in norms(dropping).values():
        norm.momentum = 1.0
    with torch.no_grad():
        dropping(whole[0].x, whole[0].ptr, edges_of(whole[0]))
    assert not torch.allclose(statistics(dropping), calibrated, rtol=0.1)
    without_dropout, _ = model_and_graphs(node_dropout=0.0, head_dropout=0.0)
    without_dropout.train()
    for norm in norms(without_dropout).values():
        norm.momentum = 1.0
    with torch.no_grad():
        without_dropout(whole[0].x, whole[0].ptr, edges_of(whole[0]))
    torch.testing.assert_close(statistics(without_dropout), calibrated)


def edges_of(batch):
    return Edges.from_rows(batch.edge_ptr, batch.edge_dst)


def test_all_batches_have_the_same_weight():
    model, encoded = model_and_graphs()
    parts = list(batches(encoded, torch.arange(len(encoded)), 4))
    recalibrate(model, parts)
    rows = [model.base.layers[0].transforms(part.x).relu() for part in parts]
    norm = model.base.layers[0].activation.norm
    expected = torch.stack([part.mean(dim=0) for part in rows]).mean(dim=0)
    torch.testing.assert_close(norm.running_mean, expected)


@pytest.mark.parametrize(
    "pool", ["max", "image", "learned-spectral", "topk", "diff", "sort", "gmt", "set-transformer"]
)
def test_weights_momenta_and_the_global_generator_are_unchanged(pool):
    model, encoded = model_and_graphs(pool=pool)
    before = {name: value.clone() for name, value in model.named_parameters()}
    momenta = [norm.momentum for norm in norms(model).values()]
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    recalibrate(model, batches(encoded, torch.arange(8), 4))
    assert torch.equal(torch.rand(1), expected)
    assert all(torch.equal(value, before[name]) for name, value in model.named_parameters())
    assert [norm.momentum for norm in norms(model).values()] == momenta
    assert not any(part.training for part in model.modules())


@pytest.mark.parametrize("count", [1, 32, MAX_GRAPHS, 900])
def test_rows_are_a_reproducible_random_sample(count):
    rows = calibration_rows(count, 3)
    assert len(rows.unique()) == len(rows) == min(count, MAX_GRAPHS)
    assert torch.equal(rows, calibration_rows(count, 3))
    assert count == 1 or not torch.equal(rows, rows.sort().values)
    assert rows.max() < count
