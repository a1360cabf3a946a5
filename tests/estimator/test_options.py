"""Every option is looked at when fit is called, and what is wrong with it is one line."""

import numpy as np
import pytest

import lfds
from lfds.config.errors import SpecError
from lfds.data.encodings import RWSE
from lfds.data.encodings.encoder import EncodingSettings
from lfds.estimator.options import Options
from tests.estimator.small import FAST, drawn, graphs, names


def options(**changed):
    return Options.of(lfds.LFDSClassifier(**changed).get_params())


def test_every_option_of_the_estimators_has_its_place():
    assert set(Options.model_fields) == set(lfds.LFDSClassifier().get_params())
    without = set(Options.model_fields) - {"class_weight"}
    assert without == set(lfds.LFDSRegressor().get_params())


@pytest.mark.parametrize(
    "told",
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
def test_options_come_back_from_json_as_they_were(told):
    made = lfds.LFDSClassifier(**told)
    kept = Options.model_validate_json(options(**told).model_dump_json())
    again = lfds.LFDSClassifier(**kept.for_estimator()).get_params()
    assert again == made.get_params() | {"node_attributes": list(made.node_attributes)}


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ({"structure": np.array(["loop", "image"])}, ["loop", "image"]),
        ({"structure": np.str_("array")}, "array"),
        ({"structure": ("loop",)}, ["loop"]),
        ({"node_attributes": np.array(["weight"])}, ["weight"]),
        ({"encoding": np.array(["rwse", "degree"])}, ["rwse", "degree"]),
        ({"options": {"width": np.int64(16)}}, {"width": 16}),
        ({"options": {"ratio": np.float64(0.5), "blend": np.True_}}, {"ratio": 0.5, "blend": True}),
        ({"learning_rate": 1}, 1.0),
        ({"warm_start": np.True_}, True),
        ({"validation": 0}, 0.0),
    ],
)
def test_numpys_values_become_pythons(told, meant):
    (name,) = told
    found = getattr(options(**told), name)
    assert found == meant
    assert repr(found) == repr(meant)  # no 16.0 for 16, and no numpy.str_


def test_weights_are_found_by_label():
    assert options(class_weight={np.int64(3): np.float32(2)}).weights == {3: 2.0}
    assert options(class_weight="balanced").weights == "balanced"
    assert options().weights is None


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"validation": "0.1"}, "needs a share from 0 to below 1, as 0.1, not '0.1'"),
        ({"validation": -0.1}, "needs a share from 0 to below 1, as 0.1, not -0.1"),
        ({"validation": 1.0}, "needs a share"),
        ({"validation": float("nan")}, "needs a share"),
        ({"learning_rate": "0.1"}, "needs a number, as 0.005, not '0.1'"),
        ({"learning_rate": float("inf")}, "needs a number"),
        ({"structure": None}, "needs the name of a structure, .* or a list of names, not None"),
        ({"structure": {"loop", "image"}}, "needs the name of a structure"),
        ({"structure": [3]}, r"needs the name of a structure, .*not \[3\]"),
        ({"class_weight": [1, 2]}, r"needs None, 'balanced', or a weight .*not \[1, 2\]"),
        ({"class_weight": {"path": None}}, "needs .* a weight above 0 .*not {'path': None}"),
        ({"class_weight": {"path": 0.0}}, "needs .* a weight above 0"),
        ({"class_weight": {"path": float("nan")}}, "needs .* a weight above 0"),
        ({"class_weight": "even"}, "needs None, 'balanced', .*not 'even'"),
        ({"options": ["a"]}, r"needs None or settings .* by name, .*not \['a'\]"),
        ({"options": {"width": None}}, "needs None or settings .*not {'width': None}"),
        ({"node_attributes": "degree"}, r"needs a list of names, as \['weight'\], not 'degree'"),
        ({"node_attributes": None}, "needs a list of names"),
        ({"node_label": 3}, "needs None or one name, not 3"),
        ({"workers": 0}, "needs a whole number of processes, from 1, not 0"),
        ({"patience": True}, "needs None or a whole number from 1, not True"),
        ({"patience": 0}, "needs None or a whole number from 1, not 0"),
        ({"seed": "x"}, "needs a whole number, not 'x'"),
        ({"seed": True}, "needs a whole number, not True"),
        ({"epochs": 2.5}, "needs a whole number of epochs, not 2.5"),
        ({"batch_size": "8"}, "needs a whole number of graphs, not '8'"),
        ({"slots": None}, "needs a whole number of slots, not None"),
        ({"reduction": 3}, "needs 'sum', 'mean' or 'mass', not 3"),
        ({"encoding": None}, "needs 'auto', .*not None"),
        ({"progress": "no"}, "needs True or False, not 'no'"),
        ({"warm_start": 1}, "needs True or False, not 1"),
        ({"structure": [["x" * 500] * 500]}, "needs the name of a structure"),
    ],
)
def test_what_an_option_cannot_be_is_one_line_when_fit_is_called(told, message):
    made = lfds.LFDSClassifier(**{**FAST, **told})  # a constructor stores, and says nothing
    (name,) = told
    for learn in (made.fit, made.partial_fit):
        with pytest.raises(SpecError, match=rf"^{name}: {message}") as caught:
            learn(graphs())
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 300


def test_what_fit_takes_can_be_saved(tmp_path):
    named = {"node_attributes": np.array(["weight"]), "node_label": np.str_("kind")}
    made = lfds.LFDSClassifier(np.array(["loop"]), **FAST, **named).fit(drawn(), names())
    made.save(tmp_path / "model")
    again = lfds.load(tmp_path / "model")
    assert (again.structure, again.node_attributes) == (["loop"], ["weight"])
    assert np.array_equal(again.predict_proba(drawn()), made.predict_proba(drawn()))
    with pytest.raises(SpecError, match=r"^workers: needs"):
        made.set_params(workers=None).save(tmp_path / "other")
    assert not (tmp_path / "other").exists()
