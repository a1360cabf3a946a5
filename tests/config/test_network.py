import pytest
from pydantic import ValidationError

from lfds.config.migrations import legacy_defaults
from lfds.config.network import NetworkSettings, recorded_network


def test_the_network_of_the_paper():
    paper = NetworkSettings.paper("loop")
    expected = {
        "width": 64, "layers": 3, "node_dropout": 0.2, "head_dropout": 0.5, "slots": 64,
        "slot_dropout": 0.4, "blend": True, "reduction": "sum", "anchors": "fixed",
        "normalized_adjacency": False, "clusters": 64, "ratio": 0.5, "sorted_nodes": 30,
    }  # fmt: skip
    assert {name: getattr(paper, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pool": "lop"}, "did you mean 'loop'"),
        ({"pool": 3}, "pool must be one of max"),
        ({"pool": "max", "widht": 3}, "widht"),
        ({"pool": "image", "slots": 60}, "square number, got 60; use 49 or 64"),
        ({"pool": "gmt", "width": 30}, "width must be a multiple of heads"),
        ({"pool": "sort", "sorted_nodes": 9}, "sorted_nodes"),
        ({"pool": "max", "node_dropout": 1.0}, "node_dropout"),
        ({"pool": "topk", "ratio": 0.0}, "ratio"),
        ({"pool": "loop+lop"}, "got 'lop'; did you mean 'loop'"),
        ({"pool": "loop+max"}, "only latent structures are joined"),
        ({"pool": "loop+loop"}, "names a structure twice"),
        ({"pool": "loop+image", "slots": 10}, "square number"),
    ],
)
def test_invalid_settings_are_refused(options, message):
    with pytest.raises(ValidationError, match=message):
        NetworkSettings(**options)


def test_settings_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        NetworkSettings(pool="max").width = 3


def test_structures_of_a_pooling():
    assert NetworkSettings(pool="loop+image").structures == ("loop", "image")
    assert NetworkSettings(pool="loop").structures == ("loop",)
    assert NetworkSettings(pool="max+mean").structures == ()


def test_recorded_settings_leave_out_what_was_in_effect_before():
    before = NetworkSettings(pool="loop", node_norm=False, pooled_layers="last").as_recorded()
    assert not {"node_norm", "pooled_layers"} & set(before)
    now = NetworkSettings(pool="loop").as_recorded()
    assert (now["node_norm"], now["pooled_layers"]) == (True, "all")
    in_effect = legacy_defaults(NetworkSettings)
    assert (in_effect["node_norm"], in_effect["pooled_layers"]) == (False, "last")
    assert recorded_network(before) == {**in_effect, **before}
    assert recorded_network(now) == {**in_effect, **now}


def test_records_of_a_baseline_do_not_depend_on_settings_of_slots():
    other = NetworkSettings(pool="max", node_norm=False, readout="max", pooled_layers="last")
    assert NetworkSettings(pool="max").as_recorded() == other.as_recorded()
    assert NetworkSettings(pool="max").as_recorded()["readout"] == "max"


def test_settings_of_something_without_slots_are_not_filled():
    assert recorded_network({"trees": 100}) == {"trees": 100}
