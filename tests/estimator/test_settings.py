from dataclasses import replace

import pytest

import lfds
from lfds.config.comparison import TrainingSettings
from lfds.config.errors import SpecError
from lfds.data.encodings import RWSE, Degree
from lfds.data.encodings.encoder import EncodingSettings
from lfds.estimator.options import Options
from lfds.estimator.settings import (
    encoding_settings,
    network_settings,
    training_settings,
)
from tests.estimator.small import graphs


def options(**changed):
    return Options.of(lfds.LFDSClassifier(**changed).get_params())


def test_options_reach_the_network():
    asked = options(structure="image", slots=16, reduction="mass", options={"width": 8})
    made = network_settings(asked)
    assert (made.pool, made.slots, made.reduction, made.width) == ("image", 16, "mass", 8)
    assert network_settings(options(structure=["array", "loop"])).pool == "array+loop"


def test_what_is_usual_gives_way_to_what_is_asked_for():
    usual = {"head_dropout": 0.0, "width": 3}
    made = network_settings(options(options={"width": 8}), usual)
    assert (made.head_dropout, made.width) == (0.0, 8)


@pytest.mark.parametrize(
    ("structure", "told", "message"),
    [
        ("lop", None, "no structure is called 'lop'; did you mean 'loop'\\? choose from image"),
        ("max", None, "no structure is called 'max'"),
        ([], None, "structure: one is needed; choose from"),
        ("loop", {"widht": 8}, "no option is called 'widht'; did you mean 'width'"),
        ("loop", {"width": 0}, "width: .* greater than or equal to 1, not 0"),
        ("loop", {"width": "8"}, "width: .* valid integer, not '8'"),
        ("loop", {"width": 8.0}, "width: .* valid integer, not 8.0"),
        ("loop", {"slots": 8}, "'slots' is chosen by an option of its own"),
        (["loop", "loop"], None, "structure: names 'loop' twice; once is enough$"),
        ("image", None, "slots of an image must be a square number, got 8"),
    ],
)
def test_a_network_that_cannot_be_is_one_line(structure, told, message):
    with pytest.raises(SpecError, match=message) as caught:
        network_settings(options(structure=structure, slots=8, options=told))
    assert "\n" not in str(caught.value)


def test_training_starts_from_the_defaults_of_all_trainings():
    usual = TrainingSettings()
    assert training_settings(options()) == usual
    small = training_settings(options(epochs=5, learning_rate=1e-6))
    assert small.epochs == 5
    assert small.learning_rate == small.final_learning_rate == 1e-6
    with pytest.raises(SpecError, match=r"epochs: .*greater than 0, not 0"):
        training_settings(options(epochs=0))


def test_encodings_by_name_in_number_and_by_settings():
    known = graphs()
    assert encoding_settings("auto", known) == EncodingSettings()
    bare = known.with_features(known.x[:, :0])
    bare = replace(bare, attributes=bare.x, labels=bare.labels[:, :0], label_values=())
    assert encoding_settings("auto", bare) == EncodingSettings(structure=(RWSE(),))
    assert encoding_settings("none", bare) == EncodingSettings()
    both = EncodingSettings(structure=(Degree(), RWSE()))
    assert encoding_settings(["degree", "rwse"], known) == both
    assert encoding_settings(both, known) is both
    with pytest.raises(SpecError, match="no encoding is called 'rws'; did you mean 'rwse'"):
        encoding_settings("rws", known)
    with pytest.raises(SpecError, match="encoding: 'auto' stands alone"):
        encoding_settings(["auto", "rwse"], known)
