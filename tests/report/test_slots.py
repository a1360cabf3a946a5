from lfds.nn.network_settings import LATENT, NetworkSettings
from lfds.report.slots import OF_SLOTS, WITH_SLOTS, has_slots, spelt_out


def test_the_names_are_those_of_the_network():
    assert set(LATENT) == WITH_SLOTS
    assert set(OF_SLOTS) <= set(NetworkSettings.model_fields)


def test_several_side_by_side_have_slots_and_other_poolings_have_none():
    assert [has_slots(pool) for pool in ("loop", "loop+image", "max", "max+mean", "tgp:x")] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_nodes_that_nothing_is_said_of_are_not_normed():
    assert spelt_out({"slots": 4}) == {"slots": 4, "node_norm": False}
    assert spelt_out({"slots": 4, "node_norm": True}) == {"slots": 4, "node_norm": True}
    assert spelt_out({}) == {}
