from typing import get_args

from lfds.data.datasets.catalog import BUILT_IN
from lfds.data.datasets.parts.amounts import CLASSES
from lfds.data.datasets.parts.tasks import Form, Task


def test_every_task_has_two_classes_and_every_form_is_built_in():
    assert set(CLASSES) == set(get_args(Task))
    assert all(len(set(classes)) == 2 for classes in CLASSES.values())
    for task in get_args(Task):
        for form in get_args(Form):
            assert f"parts-{task}-{form}" in BUILT_IN
