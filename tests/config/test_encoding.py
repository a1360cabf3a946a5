import pytest
from pydantic import ValidationError

from lfds.config.encoding import NAMES, EncodingSettings, encoding_from
from lfds.config.messages import SpecError
from lfds.config.registry import ENCODINGS
from lfds.data.encodings import RWSE, DeepWalk


def settings(structure):
    return EncodingSettings.model_validate({"structure": structure})


def test_names_stand_for_encodings_with_default_settings():
    assert settings("rwse") == settings(["rwse"]) == settings((RWSE(),))
    assert settings(["rwse", "deepwalk"]).structure == (RWSE(), DeepWalk())
    assert settings(["none"]) == settings([]) == EncodingSettings()


@pytest.mark.parametrize("name", ENCODINGS)
def test_settings_survive_json(name):
    chosen = settings([name])
    assert chosen.structure[0].kind == name
    assert EncodingSettings.model_validate_json(chosen.model_dump_json()) == chosen


def test_settings_of_an_encoding_are_given_with_its_kind():
    assert settings([{"kind": "rwse", "steps": 4}]).structure == (RWSE(steps=4),)


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        (["rws"], "no encoding is called 'rws'; did you mean 'rwse'"),
        ([{"kind": "rws"}], "no encoding is called 'rws'; did you mean 'rwse'"),
        ([{"steps": 4}], "no encoding is called None; .* choose from none, "),
        ([{"kind": "rwse", "step": 4}], "rwse: no option is called 'step'; did you mean 'steps'"),
        ([{"kind": "rwse", "steps": 0}], "rwse: steps: .* greater than"),
        ([3], "needs an encoding or the name of one, not 3"),
        (3, "structure"),
    ],
)
def test_invalid_encodings_are_refused(structure, message):
    with pytest.raises(ValidationError, match=message):
        settings(structure)


def test_a_misspelt_setting_gets_the_closest_one():
    with pytest.raises(
        ValidationError, match="no setting is called 'label'; did you mean 'labels'"
    ):
        EncodingSettings(label=True)


def test_encodings_by_name_on_the_command_line():
    assert encoding_from("rwse") == encoding_from(["rwse"]) == settings(["rwse"])
    assert encoding_from(["none"]) == EncodingSettings()
    assert ("none", *ENCODINGS) == NAMES
    with pytest.raises(SpecError, match=r"no encoding is called 'rws'; did you mean 'rwse'.* auto"):
        encoding_from("rws")
    with pytest.raises(SpecError, match="'auto' stands alone; leave it out of the list"):
        encoding_from(["auto", "rwse"])
