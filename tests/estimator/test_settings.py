from dataclasses import replace

import numpy as np
import pytest

from lfds.data.encodings import RWSE, Degree
from lfds.data.encodings.encoder import EncodingSettings
from lfds.estimator.settings import (
    encoding_settings,
    network_settings,
    plain,
    training_settings,
)
from lfds.experiment.errors import SpecError
from lfds.experiment.spec import TrainingSettings
from tests.estimator.small import graphs


def test_options_reach_the_network():
    made = network_settings("image", np.int64(16), "mass", {"width": 8})
    assert (made.pool, made.slots, made.reduction, made.width) == ("image", 16, "mass", 8)
    assert network_settings(["array"], 9, "sum", None).pool == "array"


@pytest.mark.parametrize(
    ("structure", "options", "message"),
    [
        ("lop", None, "no structure is called 'lop'; did you mean 'loop'\\? choose from image"),
        ("max", None, "no structure is called 'max'"),
        ([], None, "structure: one is needed; choose from"),
        ("loop", {"widht": 8}, "no option is called 'widht'; did you mean 'width'"),
        ("loop", {"width": 0}, "width: .* greater than or equal to 1, not 0"),
        ("loop", {"slots": 8}, "'slots' is chosen by an option of its own"),
        ("image", None, "slots of an image must be a square number, got 8"),
    ],
)
def test_a_network_that_cannot_be_is_one_line(structure, options, message):
    with pytest.raises(SpecError, match=message) as caught:
        network_settings(structure, 8, "mean", options)
    assert "\n" not in str(caught.value)


def test_training_starts_from_the_defaults_of_all_trainings():
    usual = TrainingSettings()
    assert training_settings(usual.epochs, usual.batch_size, usual.learning_rate) == usual
    small = training_settings(5, 8, 1e-6)
    assert small.learning_rate == small.final_learning_rate == 1e-6
    with pytest.raises(SpecError, match=r"epochs: .*greater than 0, not 0"):
        training_settings(0, 8, 0.1)


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


def test_plain_numbers():
    assert type(plain(np.int32(3))) is int
    assert plain(2.5) == 2.5
    assert plain(None) is None
    assert plain(True) is True
