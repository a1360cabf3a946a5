from lfds.config import network as network_settings
from lfds.config.network import LATENT, NetworkSettings
from lfds.report.slots import LEGACY_DEFAULTS, OF_SLOTS, WITH_SLOTS, fill_legacy_defaults, has_slots


def test_the_names_are_those_of_the_network():
    assert set(LATENT) == WITH_SLOTS
    assert set(OF_SLOTS) <= set(NetworkSettings.model_fields)
    assert LEGACY_DEFAULTS == network_settings.LEGACY_DEFAULTS


def test_several_side_by_side_have_slots_and_other_poolings_have_none():
    assert [has_slots(pool) for pool in ("loop", "loop+image", "max", "max+mean", "tgp:x")] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_what_goes_without_saying_is_how_it_was_before():
    before = {"node_norm": False, "pooled_layers": "last"}
    assert fill_legacy_defaults({"slots": 4}) == {"slots": 4, **before}
    said = {"slots": 4, "node_norm": True, "pooled_layers": "all"}
    assert fill_legacy_defaults(said) == said
    assert fill_legacy_defaults({}) == {}
