"""Options of the estimators: validated when ``fit`` is called, defined once."""

import inspect
from typing import Literal, get_args, get_origin

import numpy as np
import pytest
from pydantic import Field, create_model

import lfds
from lfds.config.comparison import CompareSpec
from lfds.config.messages import SpecError
from lfds.config.network import NetworkSettings
from lfds.config.training import TrainingSettings
from lfds.data.encodings import RWSE
from lfds.data.encodings.encoder import EncodingSettings
from lfds.estimator import options as options_module
from lfds.estimator.options import OWN_SETTINGS, REGRESSION_BATCH_SIZE, Options
from tests.estimator.small import FAST, graphs, labels, networkx_graphs


def options(**changed):
    return Options.of(lfds.LFDSClassifier(**changed).get_params(deep=False))


def test_constructors_have_the_options_and_defaults_of_the_model():
    for estimator, missing in (
        (lfds.LFDSClassifier, {"loss"}),
        (lfds.LFDSRegressor, {"class_weight"}),
    ):
        parameters = inspect.signature(estimator).parameters
        assert set(parameters) == set(Options.model_fields) - missing
        for name, parameter in parameters.items():
            default = parameter.default
            if name == "batch_size" and estimator is lfds.LFDSRegressor:
                assert default == REGRESSION_BATCH_SIZE
                continue
            assert (list(default) if default == () else default) == getattr(Options(), name)


def test_defaults_are_those_of_the_settings():
    training, network = TrainingSettings(), NetworkSettings(pool="loop")
    made = lfds.LFDSClassifier()
    assert (made.epochs, made.batch_size) == (training.epochs, training.batch_size)
    assert made.learning_rate == training.learning_rate
    assert (made.structure, made.slots, made.reduction) == ("loop", network.slots, "mean")
    assert made.validation == CompareSpec().validation
    assert made.patience == training.epochs // 2


@pytest.mark.parametrize("estimator", [lfds.LFDSClassifier, lfds.LFDSRegressor])
def test_docstrings_describe_every_option(estimator):
    arguments = estimator.__doc__.split("Args:")[1].split("Attributes:")[0]
    for name in inspect.signature(estimator).parameters:
        assert f"\n    {name}: " in arguments
        description = " ".join(Options.model_fields[name].description.split())
        assert f"{name}: {description}" in " ".join(arguments.split())


@pytest.mark.parametrize(
    "given",
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
def test_json_round_trip(given):
    made = lfds.LFDSClassifier(**given)
    stored = Options.model_validate_json(options(**given).model_dump_json())
    again = lfds.LFDSClassifier(**stored.for_estimator(lfds.LFDSClassifier)).get_params(deep=False)
    lists = {name: list(getattr(made, name)) for name in ("node_attributes", "edge_attributes")}
    assert again == made.get_params(deep=False) | lists


@pytest.mark.parametrize(
    ("given", "expected"),
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
def test_numpy_values_become_python_values(given, expected):
    (name,) = given
    found = getattr(options(**given), name)
    assert found == expected
    assert repr(found) == repr(expected)  # 16 and not 16.0, 'loop' and not numpy.str_


def test_class_weights_by_label():
    assert options(class_weight={np.int64(3): np.float32(2)}).weights == {3: 2.0}
    assert options(class_weight="balanced").weights == "balanced"
    assert options().weights is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"validation": "0.1"}, "needs a number from 0 to below 1, not '0.1'"),
        ({"validation": -0.1}, "needs a number from 0 to below 1, not -0.1"),
        ({"validation": 1.0}, "needs a number from 0"),
        ({"validation": float("nan")}, "needs a number from 0"),
        ({"learning_rate": "0.1"}, "needs a number, not '0.1'"),
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
        ({"workers": 0}, "needs an integer of at least 1, not 0"),
        ({"keep": "first"}, "needs 'auto', 'best', 'loss', 'mean-loss' or 'last', not 'first'"),
        ({"patience": True}, "needs None or an integer of at least 1, not True"),
        ({"patience": 0}, "needs None or an integer of at least 1, not 0"),
        ({"seed": "x"}, "needs an integer, not 'x'"),
        ({"seed": True}, "needs an integer, not True"),
        ({"epochs": 2.5}, "needs an integer, not 2.5"),
        ({"batch_size": "8"}, "needs an integer, not '8'"),
        ({"slots": None}, "needs an integer, not None"),
        ({"reduction": 3}, "needs the name of a reduction, as 'mean', not 3"),
        ({"encoding": None}, "needs 'auto', .*not None"),
        ({"progress": "no"}, "needs True or False, not 'no'"),
        ({"warm_start": 1}, "needs True or False, not 1"),
        ({"structure": [["x" * 500] * 500]}, "needs the name of a structure"),
    ],
)
def test_a_value_of_the_wrong_type_is_one_line_when_fit_is_called(given, message):
    made = lfds.LFDSClassifier(**{**FAST, **given})  # the constructor only stores it
    (name,) = given
    for fit in (made.fit, made.partial_fit):
        with pytest.raises(SpecError, match=rf"^{name}: {message}") as caught:
            fit(graphs())
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 300


def test_numpy_options_can_be_saved(tmp_path):
    named = {"node_attributes": np.array(["weight"]), "node_label": np.str_("kind")}
    made = lfds.LFDSClassifier(np.array(["loop"]), **FAST, **named)
    made.fit(networkx_graphs(), labels()).save(tmp_path / "model")
    again = lfds.load(tmp_path / "model")
    assert (again.structure, again.node_attributes) == (["loop"], ["weight"])
    expected = made.predict_proba(networkx_graphs())
    assert np.array_equal(again.predict_proba(networkx_graphs()), expected)
    with pytest.raises(SpecError, match=r"^workers: needs"):
        made.set_params(workers=None).save(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_network_settings_of_options():
    chosen = options(structure="image", slots=16, reduction="mass", options={"width": 8})
    made = chosen.network_settings()
    assert (made.pool, made.slots, made.reduction, made.width) == ("image", 16, "mass", 8)
    assert options(structure=["array", "loop"]).network_settings().pool == "array+loop"


def test_options_override_other_defaults():
    defaults = {"head_dropout": 0.0, "width": 3}
    made = options(options={"width": 8}).network_settings(defaults)
    assert (made.head_dropout, made.width) == (0.0, 8)


@pytest.mark.parametrize(
    ("structure", "given", "message"),
    [
        ("lop", None, "^structure: no structure is called 'lop'; did you mean 'loop'\\? choose"),
        ("max", None, "no structure is called 'max'"),
        ([], None, "^structure: needs a name; choose from image, "),
        (["loop", "loop"], None, "^structure: names 'loop' twice; once is enough$"),
        ("loop", {"widht": 8}, "no option is called 'widht'; did you mean 'width'"),
        ("loop", {"width": 0}, "^width: .* greater than or equal to 1, not 0"),
        ("loop", {"width": "8"}, "^width: .* valid integer, not '8'"),
        ("loop", {"width": 8.0}, "^width: .* valid integer, not 8.0"),
        ("loop", {"slots": 8}, "^options: 'slots' has an option of its own; use slots=...$"),
        ("loop", {"pool": "max"}, "^options: 'pool' has an option of its own; use structure=...$"),
        ("image", None, "slots of 'image' must be a square number, got 8"),
    ],
)
def test_an_invalid_network_is_one_line(structure, given, message):
    with pytest.raises(SpecError, match=message) as caught:
        options(structure=structure, slots=8, options=given).network_settings()
    assert "\n" not in str(caught.value)


def test_training_settings_of_options():
    assert options().training_settings() == TrainingSettings(variance_floor=0.01)
    keeps = [options(keep=k).training_settings(two_classes=True).keep for k in ("auto", "best")]
    assert keeps == ["mean-loss", "best"]
    small = options(epochs=5, learning_rate=1e-6).training_settings()
    assert small.epochs == 5
    assert small.learning_rate == small.final_learning_rate == 1e-6
    with pytest.raises(SpecError, match=r"^epochs: .*greater than 0, not 0"):
        options(epochs=0).training_settings()


def another_value(name):
    """A valid value of a setting that is not its default."""
    field = NetworkSettings.model_fields[name]
    if get_origin(field.annotation) is Literal:
        return next(value for value in get_args(field.annotation) if value != field.default)
    if field.annotation is bool:
        return not field.default
    return field.default * 2 if field.annotation is int else field.default / 2 + 0.125


@pytest.mark.parametrize("name", NetworkSettings.model_fields)
def test_every_setting_of_the_network_is_an_option_without_being_named(name):
    """By ``options={...}`` and in the spec of a comparison; ``--option`` is tested with ``fit``."""
    if name in OWN_SETTINGS:
        assert OWN_SETTINGS[name] in Options.model_fields
        return
    value = another_value(name)
    assert getattr(options(options={name: value}).network_settings(), name) == value
    assert getattr(CompareSpec(options={name: value}).network_for("loop"), name) == value


def test_a_setting_that_is_added_to_the_network_is_an_option(monkeypatch):
    extended = create_model(
        "Extended", __base__=NetworkSettings, temperature=(float, Field(default=1.0, gt=0))
    )
    monkeypatch.setattr(options_module, "NetworkSettings", extended)
    assert options(options={"temperature": 0.5}).network_settings().temperature == 0.5
    with pytest.raises(SpecError, match=r"^temperature: .* greater than 0, not -1.0"):
        options(options={"temperature": -1.0}).network_settings()
