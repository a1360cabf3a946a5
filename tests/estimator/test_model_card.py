import numpy as np
import pytest
from pydantic import ValidationError

import lfds
from lfds.data.encodings import RWSE
from lfds.data.encodings.encoder import EncodingSettings
from lfds.estimator.model_card import DataMark, ModelCard, Parameters, library_versions
from tests.estimator.small import FAST, graphs


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"structure": ["loop", "image"], "slots": np.int64(16), "seed": np.int32(3)},
        {"encoding": EncodingSettings(structure=(RWSE(steps=3),)), "patience": None},
        {"encoding": ["rwse", "degree"], "node_attributes": ["a"], "node_label": "b"},
        {"class_weight": {"a": 2.0, "b": 1.5}},
        {"class_weight": {-1: 2.0}},
        {"class_weight": "balanced", "options": {"width": 8, "blend": True, "ratio": 0.5}},
    ],
)
def test_options_come_back_from_json_as_they_were(options):
    made = lfds.LFDSClassifier(**options)
    kept = Parameters.model_validate_json(Parameters.of(made.get_params()).model_dump_json())
    again = lfds.LFDSClassifier(**kept.for_estimator()).get_params()
    told = made.get_params() | {"node_attributes": list(made.node_attributes)}
    assert again == told


def test_every_option_of_the_estimators_has_its_place():
    assert set(Parameters.model_fields) == set(lfds.LFDSClassifier().get_params())
    without = set(Parameters.model_fields) - {"class_weight"}
    assert without == set(lfds.LFDSRegressor().get_params())


def test_a_mark_knows_its_graphs():
    mark = DataMark.of(graphs())
    assert (mark.name, mark.graphs) == ("drawn", 24)
    assert mark.fingerprint != DataMark.of(graphs()[:23]).fingerprint
    assert mark == DataMark.of(graphs()[list(range(24))])


def test_versions_name_what_a_model_is_made_by():
    assert {"lfds", "python", "torch", "numpy"} <= set(library_versions())


def test_a_card_of_other_things_is_refused():
    with pytest.raises(ValidationError):
        Parameters.of({**lfds.LFDSRegressor(**FAST).get_params(), "other": 1})
    with pytest.raises(ValidationError):
        ModelCard.model_validate({})
