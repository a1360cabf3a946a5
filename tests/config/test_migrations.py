from typing import Annotated

import pytest
from pydantic import BaseModel

from lfds.config.migrations import (
    SCHEMA_VERSION,
    VERSION_KEY,
    added,
    added_fields,
    check_version,
    fill_legacy_defaults,
    legacy_defaults,
    migrate_spec,
    migrate_weights,
    version_of,
    without_legacy_defaults,
)
from lfds.config.network import NetworkSettings
from lfds.config.training import TrainingSettings


class Network(BaseModel):
    """A network that got a setting in version 1, and another with version 2."""

    slots: int = 16
    norm: Annotated[bool, added(before=False, since=1)] = True
    layers: Annotated[str, added(before="last", since=2)] = "all"


class Training(BaseModel):
    epochs: int = 100
    warm_up: Annotated[int, added(before=0, since=2)] = 5


def migrated(**stored):
    return migrate_spec(stored, Network, Training)


def test_a_spec_without_a_version_gets_the_earlier_defaults():
    assert migrated(epochs=3) == {"epochs": 3, "options": {"layers": "last"}, "warm_up": 0}
    assert migrated(epochs=3) == migrated(epochs=3, **{VERSION_KEY: 1})


def test_a_spec_of_this_version_has_the_defaults_of_today():
    assert migrated(epochs=3, **{VERSION_KEY: 2}) == {"epochs": 3}


def test_settings_that_a_spec_names_are_kept():
    stored = {"options": {"layers": "all", "slots": 4}, "warm_up": 7}
    assert migrated(**stored) == stored


def test_the_network_of_the_paper_is_not_changed_by_defaults():
    assert migrated(network="paper") == {"network": "paper", "warm_up": 0}


def test_the_stored_spec_itself_is_not_changed():
    stored = {VERSION_KEY: 1, "options": {"slots": 4}}
    migrate_spec(stored, Network, Training)
    assert stored == {VERSION_KEY: 1, "options": {"slots": 4}}


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (SCHEMA_VERSION + 1, "update lfds"),
        (0, "it must be a number from 1"),
        (True, "it must be a number from 1"),
        ("2", "it must be a number from 1"),
        (None, "it must be a number from 1"),
    ],
)
def test_other_versions_are_refused(version, message):
    with pytest.raises(ValueError, match=message):
        check_version(version)
    with pytest.raises(ValueError, match=message):
        migrated(**{VERSION_KEY: version})


def test_what_was_stored_without_a_version_is_version_1():
    assert version_of({}) == 1
    assert version_of({VERSION_KEY: 2}) == 2


def test_records_leave_out_earlier_values_and_are_filled_again():
    chosen = {"slots": 4, "norm": False, "layers": "all"}
    recorded = without_legacy_defaults(Network, chosen)
    assert recorded == {"slots": 4, "layers": "all"}
    assert fill_legacy_defaults(Network, recorded) == chosen
    assert fill_legacy_defaults(Network, {"slots": 4}) == {
        "slots": 4,
        "norm": False,
        "layers": "last",
    }
    assert legacy_defaults(Network) == {"norm": False, "layers": "last"}


@pytest.mark.parametrize(
    ("settings", "options"), [(NetworkSettings, {"pool": "loop"}), (TrainingSettings, {})]
)
def test_earlier_values_of_todays_settings_are_valid(settings, options):
    marks = dict(added_fields(settings))
    assert marks
    assert all(1 <= mark.since <= SCHEMA_VERSION for mark in marks.values())
    settings.model_validate({**options, **legacy_defaults(settings)})


def test_tensors_are_found_under_their_earlier_names():
    current = ["base.weight", "pool.pools.0.input_map.weight", "pool.pools.1.input_map.weight"]
    assert migrate_weights(["base.weight", "pool.mix.weight"], current) == {
        "base.weight": "base.weight",
        "pool.pools.0.input_map.weight": "pool.mix.weight",
        "pool.pools.1.input_map.weight": "pool.mix.weight",
    }
    assert migrate_weights(current, current) == dict(zip(current, current, strict=True))


def test_missing_tensors_keep_their_names():
    assert migrate_weights([], ["base.weight"]) == {"base.weight": "base.weight"}
