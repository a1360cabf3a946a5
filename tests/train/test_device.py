from dataclasses import fields

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lfds.config.messages import SpecError
from lfds.config.training import TrainingSettings
from lfds.data.batch import Batch
from lfds.data.graphset import GraphSet
from lfds.nn import GraphNetwork, NetworkSettings
from lfds.train import device as module
from lfds.train.device import GraphsOnDevice, on_device, resolve_device, to_device
from lfds.train.epoch import outputs_of
from lfds.train.loop import Training

CPU = torch.device("cpu")


def graphs(sizes=(3, 1, 4, 2, 5)):
    """Rings with a node's number as its feature."""
    from torch_geometric.data import Data

    made = []
    for number, size in enumerate(sizes):
        ring = torch.arange(size)
        edges = torch.stack([ring, (ring + 1) % size]) if size > 1 else torch.empty(2, 0).long()
        x = torch.arange(size).float()[:, None] + 10 * number
        made.append(Data(x=x, edge_index=edges, y=torch.tensor([number % 2])))
    return GraphSet.from_pyg(made)


def featured():
    """The same with features of edges."""
    data = graphs()
    return data.with_features(data.x, torch.arange(2.0 * data.num_edges).view(-1, 2))


@settings(max_examples=15)
@given(rows=st.lists(st.integers(0, 4), min_size=1, max_size=7), of=st.sampled_from([0, 1]))
def test_a_batch_from_the_device_is_that_of_the_set(rows, of):
    data, rows = (graphs, featured)[of](), torch.tensor(rows)
    there, here = GraphsOnDevice(data, CPU).batch(rows), data.batch(rows)
    for entry in fields(Batch):
        if entry.name not in ("edge_attributes", "edge_labels"):
            assert torch.equal(getattr(there, entry.name), getattr(here, entry.name)), entry.name


def test_the_host_does_not_wait_for_a_batch():
    from tests.nn.accel.launches import Launches

    # The numbers of graphs are read on the host, where they are: values of the set are not.
    there = GraphsOnDevice(graphs(), CPU)
    with Launches() as launches:
        there.batch(torch.tensor([3, 0]))
    assert not +launches.reads


def test_on_the_cpu_nothing_is_copied():
    data = graphs()
    assert on_device(data, CPU) is data
    batch = data.batch([0, 1])
    assert to_device(batch, CPU) is batch


def test_a_set_that_does_not_fit_is_copied_batch_by_batch(monkeypatch):
    meta, data = torch.device("meta"), graphs()
    assert isinstance(on_device(data, meta), GraphsOnDevice)
    monkeypatch.setattr(module, "_free_memory", lambda device: 10.0)
    source = on_device(data, meta)
    assert not isinstance(source, GraphsOnDevice)
    assert len(source) == 5
    assert source.batch(torch.tensor([1, 2])).x.device == meta


def test_auto_is_the_accelerator_or_the_cpu(monkeypatch):
    monkeypatch.setattr(module, "has_accelerator", lambda: False)
    assert resolve_device("auto") == CPU
    monkeypatch.setattr(module, "has_accelerator", lambda: True)
    monkeypatch.setattr(
        torch.accelerator, "current_accelerator", lambda *_: torch.device("cuda", 0)
    )
    assert resolve_device("auto") == torch.device("cuda")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gpu", "device: no device is called 'gpu'; use device=\"auto\""),
        ("", "device: no device is called ''"),
        ("meta", "device: there is no 'meta' on this machine; use device=\"cpu\""),
        ("cuda:7", "device: there is no 'cuda:7' on this machine"),
    ],
)
def test_a_device_that_is_not_there(name, message, monkeypatch):
    monkeypatch.setattr(module, "has_accelerator", lambda: False)
    with pytest.raises(SpecError) as caught:
        resolve_device(name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def network():
    return GraphNetwork(1, 2, NetworkSettings(pool="loop", width=8, slots=4, head_width=8))


def test_bf16_rounds_products_and_returns_float32():
    model, batch = network().eval(), graphs().batch([0, 2, 4])
    full, low = (outputs_of(model, batch, precision) for precision in ("32", "bf16"))
    assert low.dtype == torch.float32
    assert not torch.equal(low, full)
    torch.testing.assert_close(low, full, rtol=0.05, atol=0.05)


def test_bf16_trains_weights_of_float32():
    data = graphs((3, 4, 5, 6, 3, 4, 5, 6))
    settings = TrainingSettings(epochs=2, batch_size=4, precision="bf16")
    training = Training(network(), data, data, settings, 0, ("test",))
    training.run(lambda _: None)
    floats = [one for one in training.best.values() if one.is_floating_point()]
    assert {one.dtype for one in floats} == {torch.float32}
    assert len(training.progress.loss) == 2


def test_the_settings_of_before_are_named_as_before():
    from lfds.config.migrations import without_legacy_defaults

    named = without_legacy_defaults(TrainingSettings, TrainingSettings().model_dump())
    assert not {"device", "precision"} & set(named)
    chosen = TrainingSettings(device="cuda", precision="bf16")
    named = without_legacy_defaults(TrainingSettings, chosen.model_dump())
    assert (named["device"], named["precision"]) == ("cuda", "bf16")
