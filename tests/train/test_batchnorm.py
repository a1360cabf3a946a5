import pytest
import torch

from lfds.data.encodings.encoder import Encoder
from lfds.nn import Edges, GraphNetwork, NetworkSettings
from lfds.train.batchnorm import MOST, measure_norms, measured_rows
from lfds.train.epoch import batches
from tests.compare.small import graphs


def model_and_graphs(**options):
    encoded = Encoder().fit(graphs()).transform(graphs())
    torch.manual_seed(0)
    told = {"pool": "loop", "width": 8, "head_width": 8, "slots": 4, "node_dropout": 0.9}
    network = NetworkSettings.model_validate({**told, **options})
    return GraphNetwork(encoded.x.shape[1], 2, network), encoded


def norms(model):
    return {name: part for name, part in model.named_modules() if hasattr(part, "running_var")}


def statistics(model):
    parts = norms(model).values()
    return torch.cat([torch.cat([norm.running_mean, norm.running_var]) for norm in parts])


def first_rows(model, encoded):
    """What the first norm of the base is given."""
    return model.base.layers[0].transforms(encoded.x).relu()


def test_norms_take_the_statistics_of_whole_graphs():
    model, encoded = model_and_graphs()
    measure_norms(model, [encoded.batch(slice(0, len(encoded)))])
    rows = first_rows(model, encoded)
    norm = model.base.layers[0].activation.norm
    torch.testing.assert_close(norm.running_mean, rows.mean(dim=0))
    torch.testing.assert_close(norm.running_var, rows.var(dim=0))


def test_a_later_norm_sees_what_the_evaluated_network_makes():
    """With nodes dropped, as in training, what arrives at the second layer is something else."""
    model, encoded = model_and_graphs()
    whole = [encoded.batch(slice(0, len(encoded)))]
    measure_norms(model, whole)
    measured = statistics(model)
    careless, _ = model_and_graphs()
    careless.train()
    for norm in norms(careless).values():
        norm.momentum = 1.0
    with torch.no_grad():
        careless(whole[0].x, whole[0].ptr, edges_of(whole[0]))
    assert not torch.allclose(statistics(careless), measured, rtol=0.1)
    sound, _ = model_and_graphs(node_dropout=0.0, head_dropout=0.0)
    sound.train()
    for norm in norms(sound).values():
        norm.momentum = 1.0
    with torch.no_grad():
        sound(whole[0].x, whole[0].ptr, edges_of(whole[0]))
    torch.testing.assert_close(statistics(sound), measured)


def edges_of(batch):
    return Edges.from_rows(batch.edge_ptr, batch.edge_dst)


def test_batches_count_alike():
    model, encoded = model_and_graphs()
    parts = list(batches(encoded, torch.arange(len(encoded)), 4))
    measure_norms(model, parts)
    rows = [model.base.layers[0].transforms(part.x).relu() for part in parts]
    norm = model.base.layers[0].activation.norm
    expected = torch.stack([part.mean(dim=0) for part in rows]).mean(dim=0)
    torch.testing.assert_close(norm.running_mean, expected)


@pytest.mark.parametrize(
    "pool", ["max", "image", "learned-spectral", "topk", "diff", "sort", "gmt", "set-transformer"]
)
def test_weights_paces_and_the_generator_stay(pool):
    model, encoded = model_and_graphs(pool=pool)
    before = {name: value.clone() for name, value in model.named_parameters()}
    paces = [norm.momentum for norm in norms(model).values()]
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    measure_norms(model, batches(encoded, torch.arange(8), 4))
    assert torch.equal(torch.rand(1), expected)
    assert all(torch.equal(value, before[name]) for name, value in model.named_parameters())
    assert [norm.momentum for norm in norms(model).values()] == paces
    assert not any(part.training for part in model.modules())


@pytest.mark.parametrize("count", [1, 32, MOST, 900])
def test_rows_are_some_of_all_in_no_order_and_always_the_same(count):
    rows = measured_rows(count, 3)
    assert len(rows.unique()) == len(rows) == min(count, MOST)
    assert torch.equal(rows, measured_rows(count, 3))
    assert count == 1 or not torch.equal(rows, rows.sort().values)
    assert rows.max() < count
