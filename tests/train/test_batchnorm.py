import pytest
import torch

from lfds.data.encodings.encoder import Encoder
from lfds.nn import Edges, GraphNetwork, NetworkSettings
from lfds.train.batchnorm import MAX_GRAPHS, bound_variances, calibration_rows, recalibrate
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


VARIANCES = [0.0, 1e-6, 0.5, 1.0, 2.0, 1e-13]
"""Of six channels: the first is constant, and so is the last but for rounding."""


def norm_with(variances):
    norm = torch.nn.BatchNorm1d(len(variances))
    norm.running_var.copy_(torch.tensor(variances))
    return norm


def bounded(variances, floor):
    norm = norm_with(variances)
    bound_variances(norm, floor)
    return norm.running_var.tolist()


def test_constant_channels_get_the_median_and_the_others_a_floor():
    # The median of 1e-6, 0.5, 1 and 2 is 0.5: torch takes the lower one of two.
    assert bounded(VARIANCES, 0.01) == pytest.approx([0.5, 0.005, 0.5, 1.0, 2.0, 0.5])


def test_without_a_floor_no_bit_changes():
    assert bounded(VARIANCES, 0.0) == norm_with(VARIANCES).running_var.tolist()


def test_a_norm_without_any_variance_gets_that_of_a_new_one():
    assert bounded([0.0, 0.0], 0.01) == [1.0, 1.0]


def test_a_norm_without_statistics_stays_without():
    bound_variances(torch.nn.BatchNorm1d(2, track_running_stats=False), 0.01)


def unlike_all_others(model, encoded):
    """A batch whose first node is large in a channel in which all calibration graphs are zero."""
    assert encoded.x.min() >= 0
    with torch.no_grad():  # the first channel is negative for all nodes, and ReLU makes it zero
        model.base.layers[0].transforms.weight[0] = -1.0
    whole = encoded.batch(slice(0, 8))
    changed = whole.x.clone()
    changed[0] = -20.0
    return whole, changed


def outputs(model, batch, x):
    with torch.no_grad():
        return model(x, batch.ptr, edges_of(batch))


def test_a_channel_dead_in_all_calibration_graphs_is_not_scaled_up_where_it_is_active():
    model, encoded = model_and_graphs()
    batch, changed = unlike_all_others(model, encoded)
    parts = [encoded.batch(slice(0, len(encoded)))]
    seen = {}
    norm = model.base.layers[0].activation.norm
    norm.register_forward_hook(lambda _, given, made: seen.update(z=made))
    recalibrate(model, parts)
    before = outputs(model, batch, batch.x)
    outputs(model, batch, changed)
    assert norm.running_var[0] == 0
    assert seen["z"][0, 0] > 10_000  # divided by the root of 1e-5
    bound_variances(model, 0.01)
    outputs(model, batch, changed)
    others = norm.running_var[1:].sort().values
    median = others[(len(others) - 1) // 2]
    torch.testing.assert_close(seen["z"][0, 0], 60 / (median + norm.eps).sqrt())
    # Graphs like those of the calibration keep their outputs, where channels vary.
    torch.testing.assert_close(outputs(model, batch, batch.x), before, rtol=0.2, atol=0.2)
