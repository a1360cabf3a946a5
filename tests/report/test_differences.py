import pytest
from torch import nn

from lfds.config.network import NetworkSettings
from lfds.config.registry import BASELINES, STRUCTURES
from lfds.nn import GraphNetwork
from lfds.report.differences import effective_settings, network_parts
from tests.report.runs import make_settings, record, records


def parts_of(report_on, pool, **network):
    settings = make_settings(pool, **network)
    some = [record(pool, "A", fold, settings=settings) for fold in range(5)]
    return network_parts(report_on(some).series)[0]


@pytest.mark.parametrize("pool", [*BASELINES, *STRUCTURES])
def test_words_agree_with_the_networks(report_on, pool):
    settings = NetworkSettings(pool=pool)
    network = GraphNetwork(5, 2, settings)
    found = parts_of(report_on, pool, **settings.model_dump(exclude={"pool", "slots"}))
    norms = [one for one in network.pool.modules() if "norm" in type(one).__name__.lower()]
    assert (found.norms == "none") == (not norms)
    assert (found.beside == "nothing") == network.pool.replaces_readout
    mapped = [
        one
        for one in network.pool.modules()
        if isinstance(getattr(one, "input_map", None), nn.Linear)
    ]
    mixed = network.layer_map is not None or bool(mapped)
    assert (found.layers == "all, in a learned mix") == mixed
    assert (found.layers == "all, side by side") == (network.pool.uses_all_layers and not mixed)


def test_parameters_are_those_of_each_dataset(report_on):
    assert parts_of(report_on, "max").parameters == "1,002"


def test_rows_without_a_completed_fold_are_left_out(report_on):
    some = [*records(["max"], ["A"]), record("loop", "A", failed=True)]
    assert [one.row for one in network_parts(report_on(some).series)] == ["max"]


def test_only_settings_without_effect_are_dashes(report_on):
    (series,) = report_on(records(["max"], ["A"])).series
    (found,) = effective_settings([series])
    assert (
        found["node_norm"]
        == found["readout" if "readout" in found else "node_norm"]
        == "\N{EN DASH}"
    )
    assert found["epochs"] == "4"
