import pytest
from pydantic import ValidationError

from lfds.config.comparison import CompareSpec
from lfds.config.training import TrainingSettings


@pytest.mark.parametrize("settings", [TrainingSettings, CompareSpec])
def test_every_setting_has_a_description(settings):
    for name, field in settings.model_fields.items():
        assert (field.description or "").endswith("."), name


@pytest.mark.parametrize(
    "options",
    [
        {"epochs": 0},
        {"batch_size": 1},
        {"learning_rate": 0},
        {"learning_rate": float("inf")},
        {"weight_decay": -0.1},
        {"averaging": 1},
        {"decay": "square"},
        {"keep": "first"},
        {"epoch": 3},
    ],
)
def test_invalid_settings_are_refused(options):
    with pytest.raises(ValidationError, match=next(iter(options))):
        TrainingSettings.model_validate(options)
