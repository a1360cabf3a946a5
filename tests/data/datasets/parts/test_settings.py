import pytest
from pydantic import ValidationError

from lfds.data.datasets.parts.settings import PartsSettings


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"task": "size"}, "count"),
        ({"task": "count", "kinds": 1}, "kinds"),
        ({"task": "count", "gap": 0.0}, "gap"),
        ({"task": "count", "gap": 1.1}, "gap"),
        ({"task": "count", "noise": float("nan")}, "noise"),
        ({"task": "count", "times": 1}, "times"),
        ({"task": "count", "nosie": 1}, "nosie"),
        ({"task": "share", "kinds": 9}, "9 kinds need at least 18 parts, not 16"),
    ],
)
def test_what_cannot_be_drawn_is_refused(wrong, said):
    with pytest.raises(ValidationError, match=said):
        PartsSettings.model_validate(wrong)


def test_the_name_says_task_form_and_size():
    assert PartsSettings(task="share").name == "parts-share-graph"
    assert PartsSettings(task="pairs", form="set", larger=True).name == "parts-pairs-set-larger"
