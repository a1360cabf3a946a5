from typing import get_args

import pytest
from pydantic import ValidationError

from lfds.data.datasets.catalog import BUILT_IN
from lfds.data.datasets.parts import CLASSES, Form, PartsSettings, Task


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"task": "size"}, "count"),
        ({"task": "count", "part_types": 1}, "part_types"),
        ({"task": "count", "gap": 0.0}, "gap"),
        ({"task": "count", "gap": 1.1}, "gap"),
        ({"task": "count", "noise": float("nan")}, "noise"),
        ({"task": "count", "times": 1}, "times"),
        ({"task": "count", "nosie": 1}, "nosie"),
        ({"task": "share", "part_types": 9}, "part_types=9 needs at least 18 parts, not 16"),
    ],
)
def test_invalid_settings_are_errors(wrong, message):
    with pytest.raises(ValidationError, match=message):
        PartsSettings.model_validate(wrong)


def test_the_name_has_task_form_and_size():
    assert PartsSettings(task="share").name == "parts-share-graph"
    assert PartsSettings(task="pairs", form="set", larger=True).name == "parts-pairs-set-larger"


def test_every_task_has_two_classes_and_every_form_is_built_in():
    assert set(CLASSES) == set(get_args(Task))
    assert all(len(set(classes)) == 2 for classes in CLASSES.values())
    for task in get_args(Task):
        for form in get_args(Form):
            assert f"parts-{task}-{form}" in BUILT_IN


def test_provenance_keeps_the_names_of_earlier_versions():
    stored = PartsSettings(task="count", part_types=3).model_dump(by_alias=True)
    assert stored["kinds"] == 3
    assert "part_types" not in stored
