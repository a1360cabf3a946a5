import pytest
from pydantic import ValidationError

from lfds.config.comparison import CompareSpec, make_spec, nearest, read_options
from lfds.config.errors import SpecError
from lfds.data.encodings import DeepWalk
from lfds.nn import NetworkSettings


def test_a_spec_is_frozen_and_survives_json():
    spec = make_spec({"pools": ["max", "loop"], "epochs": 3, "options": {"slots": 16}})
    assert CompareSpec.model_validate_json(spec.model_dump_json()) == spec
    with pytest.raises(ValidationError):
        spec.epochs = 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pools": ["lop"]}, "no pooling is called 'lop'; did you mean 'loop'"),
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
        ({"grid": {"slots": [4]}, "protocol": "paper"}, "it needs protocol 'fair'"),
        ({"keep": "first"}, "keep: Input should be 'best' or 'last', not 'first'"),
        ({"grid": {"keep": ["best", "last"]}}, "name one of them outside of the grid"),
        ({"keep": "last", "preset": "paper"}, "keep is for protocol 'fair'"),
        ({"protocol": "unfair"}, "protocol: Input should be 'fair' or 'paper', not 'unfair'"),
        ({"folds": 1}, "folds: .* greater than or equal to 2, not 1"),
        ({"epochs": 0}, "epochs: "),
        ({"learning_rate": float("nan")}, "learning_rate: "),
        ({"pools": []}, "pools: "),
        ({"pools": ["max", "max"]}, "pools names 'max' twice"),
        ({"data": ["DD", "DD"]}, "data names 'DD' twice"),
        ({"encoding": {"structure": [{"kind": "nothing"}]}}, "'kind' does not match .* 'rwse'"),
        (
            {"encoding": {"structure": [{"kind": "distances", "quantiles": 0}]}},
            "distances.quantiles: .* greater than 0, not 0",
        ),
        ({"encoding": {"structur": []}}, "no setting is called 'structur'; did you mean"),
        ({"encoding": "rws"}, "encoding.*'auto', not 'rws'"),
        ({"folds": 1, "encoding": {"structure": [{"kind": "rwse", "steps": 0}]}}, "folds: "),
    ],
)
def test_what_is_wrong_is_one_line_with_the_way_out(options, said):
    with pytest.raises(SpecError, match=said) as caught:
        make_spec(options)
    assert "\n" not in str(caught.value)


def test_the_paper_preset_is_the_papers_and_may_be_overruled():
    spec = make_spec({"preset": "paper"})
    assert (spec.network, spec.protocol, spec.folds) == ("paper", "paper", 10)
    assert spec.encoding.structure == (DeepWalk(scale=0.1),)
    assert (spec.learning_rate, spec.final_learning_rate) == (0.005, 0.0001)
    assert spec.network_for("loop") == NetworkSettings.paper("loop")
    fair = make_spec({"preset": "paper", "protocol": "fair"})
    assert (fair.network, fair.protocol) == ("paper", "fair")


def test_networks_differ_by_what_was_asked_and_nothing_else():
    spec = make_spec({"options": {"slots": 16, "reduction": "mass"}})
    expected = NetworkSettings(pool="loop", slots=16, reduction="mass")
    assert spec.network_for("loop") == expected


def test_seeds_follow_the_first():
    assert make_spec({"seed": 4, "seeds": 3}).all_seeds == (4, 5, 6)


def test_a_toml_file_is_read(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text('data = ["DD"]\nepochs = 7\n[options]\nslots = 16\n')
    spec = make_spec(read_options(path))
    assert (spec.data, spec.training.epochs, spec.options) == (("DD",), 7, {"slots": 16})


def test_what_is_no_toml_is_said(tmp_path):
    with pytest.raises(SpecError, match="cannot be read"):
        read_options(tmp_path / "nowhere.toml")
    (tmp_path / "bad.toml").write_text("epochs = ")
    with pytest.raises(SpecError, match="is no TOML"):
        read_options(tmp_path / "bad.toml")


def test_a_name_that_is_near_nothing_gets_the_list_alone():
    assert nearest("zzz", {"max": 1, "loop": 2}) == "choose from max, loop"


def test_what_a_run_wrote_down_asks_for_the_same_again(tmp_path):
    spec = make_spec({"pools": ["max"], "epochs": 3, "encoding": {"structure": []}})
    (tmp_path / "spec.json").write_text(spec.model_dump_json())
    assert make_spec(read_options(tmp_path / "spec.json")) == spec


@pytest.mark.parametrize(("content", "said"), [("{", "is no JSON"), ("[1]", "options by name")])
def test_json_that_is_no_spec_is_one_line(tmp_path, content, said):
    (tmp_path / "spec.json").write_text(content)
    with pytest.raises(SpecError, match=said):
        read_options(tmp_path / "spec.json")
