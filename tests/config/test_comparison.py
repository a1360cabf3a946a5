import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from lfds.config.comparison import (
    CompareSpec,
    make_spec,
    read_options,
    with_earlier_defaults,
)
from lfds.config.messages import SpecError
from lfds.config.migrations import SCHEMA_VERSION, VERSION_KEY
from lfds.config.network import NetworkSettings
from lfds.data.encodings import DeepWalk


def test_a_spec_is_frozen_and_survives_json():
    spec = make_spec({"pools": ["max", "loop"], "epochs": 3, "options": {"slots": 16}})
    assert CompareSpec.model_validate_json(spec.model_dump_json()) == spec
    with pytest.raises(ValidationError):
        spec.epochs = 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pools": ["lop"]}, "^pools: no pooling is called 'lop'; did you mean 'loop'"),
        ({"pools": ["tgp:nothing"]}, r"^pool (must be tgp: and|'tgp:nothing' needs)"),
        ({"pools": ["loop+loop"]}, "^pool names a structure twice"),
        ({"epoch": 3}, "no option is called 'epoch'; did you mean 'epochs'"),
        ({"preset": "papr"}, "no preset is called 'papr'; did you mean 'paper'"),
        ({"options": {"slot": 3}}, "no network has the option 'slot'; did you mean 'slots'"),
        ({"options": {"pool": "max"}}, "no network has the option 'pool'"),
        ({"options": {"slots": 1}}, "slots"),
        ({"grid": {"slts": [3]}}, "no network has the option 'slts'; did you mean 'slots'"),
        ({"grid": {"slots": []}}, "grid.slots"),
        ({"grid": {"epochs": [0]}}, "epochs"),
        ({"grid": {"slots": [4]}, "protocol": "paper"}, "needs protocol='fair'"),
        (
            {"keep": "first"},
            "keep: Input should be 'best', 'loss', 'mean-loss' or 'last', not 'first'",
        ),
        ({"grid": {"keep": ["best", "last"]}}, "set it outside of the grid"),
        ({"keep": "last", "preset": "paper"}, "keep='last' needs protocol='fair'"),
        ({"protocol": "unfair"}, "protocol: Input should be 'fair' or 'paper', not 'unfair'"),
        ({"folds": 1}, "folds: .* greater than or equal to 2, not 1"),
        ({"epochs": 0}, "epochs: "),
        ({"learning_rate": float("nan")}, "learning_rate: "),
        ({"pools": []}, "pools: "),
        ({"pools": ["max", "max"]}, "^pools: names 'max' twice"),
        ({"data": ["DD", "DD"]}, "^data: names 'DD' twice"),
        (
            {"encoding": {"structure": [{"kind": "nothing"}]}},
            "no encoding is called 'nothing'; .* choose from none, .*rwse",
        ),
        (
            {"encoding": {"structure": [{"kind": "distances", "quantiles": 0}]}},
            "distances: quantiles: .* greater than 0, not 0",
        ),
        ({"encoding": {"structur": []}}, "no setting is called 'structur'; did you mean"),
        ({"encoding": "rws"}, "encoding.*'auto', not 'rws'"),
        ({"folds": 1, "encoding": {"structure": [{"kind": "rwse", "steps": 0}]}}, "folds: "),
    ],
)
def test_an_invalid_spec_is_refused_in_one_line(options, message):
    with pytest.raises(SpecError, match=message) as caught:
        make_spec(options)
    assert "\n" not in str(caught.value)


def test_options_override_the_paper_preset():
    spec = make_spec({"preset": "paper"})
    assert (spec.network, spec.protocol, spec.folds) == ("paper", "paper", 10)
    assert spec.encoding.structure == (DeepWalk(scale=0.1),)
    assert (spec.learning_rate, spec.final_learning_rate) == (0.005, 0.0001)
    assert spec.network_for("loop") == NetworkSettings.paper("loop")
    fair = make_spec({"preset": "paper", "protocol": "fair"})
    assert (fair.network, fair.protocol) == ("paper", "fair")


def test_options_change_the_default_network():
    spec = make_spec({"options": {"slots": 16, "reduction": "mass"}})
    expected = NetworkSettings(pool="loop", slots=16, reduction="mass")
    assert spec.network_for("loop") == expected


def test_seeds_count_from_the_first():
    assert make_spec({"seed": 4, "seeds": 3}).all_seeds == (4, 5, 6)


def test_a_toml_file_is_read(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text('data = ["DD"]\nepochs = 7\n[options]\nslots = 16\n')
    spec = make_spec(read_options(path))
    assert (spec.data, spec.training.epochs, spec.options) == (("DD",), 7, {"slots": 16})


def test_invalid_toml_is_refused(tmp_path):
    with pytest.raises(SpecError, match="cannot be read"):
        read_options(tmp_path / "nowhere.toml")
    (tmp_path / "bad.toml").write_text("epochs = ")
    with pytest.raises(SpecError, match="invalid TOML"):
        read_options(tmp_path / "bad.toml")


def test_a_stored_spec_is_read_with_and_without_its_version(tmp_path):
    spec = make_spec({"pools": ["max"], "epochs": 3, "encoding": {"structure": ["rwse"]}})
    path = tmp_path / "spec.json"
    stored = spec.as_stored()
    assert stored[VERSION_KEY] == SCHEMA_VERSION
    path.write_text(json.dumps(stored))
    assert make_spec(read_options(path)) == spec
    for content in ({**stored, VERSION_KEY: 1}, spec.model_dump(mode="json")):
        path.write_text(json.dumps(content))
        found = make_spec(read_options(path))
        assert found.network_for("loop").anchors == "fixed"  # what was the default then
        assert found.model_copy(update={"options": {}}) == spec


def test_a_spec_of_a_later_version_is_refused_in_one_line(tmp_path):
    path = tmp_path / "spec.json"
    path.write_text(json.dumps({VERSION_KEY: SCHEMA_VERSION + 1, "later": 1}))
    with pytest.raises(
        SpecError, match=rf"spec.json: schema_version is {SCHEMA_VERSION + 1}, .* update lfds$"
    ) as caught:
        read_options(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "invalid JSON"), ("[1]", "must hold options by name, not a list")],
)
def test_invalid_json_is_refused(tmp_path, content, message):
    (tmp_path / "spec.json").write_text(content)
    with pytest.raises(SpecError, match=message):
        read_options(tmp_path / "spec.json")


def test_a_preset_that_is_no_name_is_refused():
    for preset in ({}, ["paper"], 5, "x" * 10_000):
        with pytest.raises(SpecError, match="no preset is called") as caught:
            make_spec({"preset": preset})
        assert len(str(caught.value)) < 1000


def test_a_grid_of_very_many_combinations_is_refused_at_once():
    grid = {
        name: [0.1 + n / 100 for n in range(30)]
        for name in (
            "learning_rate",
            "node_dropout",
            "head_dropout",
            "slot_dropout",
            "averaging",
            "ratio",
        )
    }
    with pytest.raises(SpecError, match=r"grid: has 729,000,000 combinations.* at most 10,000"):
        make_spec({"grid": grid})


@pytest.mark.parametrize("options", [{"seeds": 20231117}, {"folds": 10**9}])
def test_numbers_of_another_option_are_refused(options):
    with pytest.raises(SpecError, match="less than or equal to 100000, not"):
        make_spec(options)


@pytest.mark.parametrize(
    "line",
    [
        "a" + 100_000 * ".a" + " = 1",
        "[a" + 100_000 * ".a" + "]",
        "grid = {a" + 100_000 * ".a" + " = 1}",
        "'='" + 100_000 * ".a" + " = 1",
        "x" + 100_000 * ' . "="' + " = 1",
        "x" + 100_000 * r'."\""' + " = 1",
    ],
    ids=["key", "table", "inline", "equals sign", "quoted", "escaped"],
)
def test_a_key_of_very_many_parts_is_refused_at_once(tmp_path, line):
    (tmp_path / "spec.toml").write_text(f"# {30 * '.'} = 1\nfolds = 3\n{line}\n")
    with pytest.raises(SpecError, match=r"invalid TOML: line 3: a key has more than 20 parts"):
        read_options(tmp_path / "spec.toml")


def test_many_numbers_in_a_line_are_no_key(tmp_path):
    numbers = ", ".join(["0.1"] * 30)
    (tmp_path / "spec.toml").write_text(f"[grid]\nlearning_rate = [\n{numbers},\n]\n")
    assert len(read_options(tmp_path / "spec.toml")["grid"]["learning_rate"]) == 30


def test_a_device_is_no_spec():
    with pytest.raises(SpecError, match="/dev/zero: is larger than 1 MB"):
        read_options(Path("/dev/zero"))


@pytest.mark.parametrize(
    "options", [{"data": ["a\udce9/b.jsonl"]}, {"splits": ["a\udce9"]}, {"group_column": "\ud800"}]
)
def test_text_that_no_file_can_hold_is_refused(options):
    with pytest.raises(SpecError, match="is not valid Unicode"):
        make_spec(options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": {"x": 1}}, "no preset is called {'x': 1}"),
        ({"preset": ["paper"]}, "no preset is called"),
        ({"options": [1]}, "options: Input should be a valid dictionary, not"),
        ({"options": "slots"}, "options: Input should be a valid dictionary, not"),
    ],
)
def test_invalid_options_of_a_run_that_is_resumed_are_one_line(options, message):
    with pytest.raises(SpecError, match=message):
        make_spec(with_earlier_defaults(options, version=1))
