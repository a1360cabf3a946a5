from typing import Literal

import pytest
import typer
from pydantic import BaseModel, ConfigDict, Field
from typer.testing import CliRunner

from lfds.cli.many_values import ManyValues, spread
from lfds.cli.options import network_options, options_from, with_flags
from lfds.config.messages import SpecError


class Basic(BaseModel):
    model_config = ConfigDict(use_attribute_docstrings=True)
    rate: float = Field(default=0.5, gt=0)
    """Learning rate."""
    keep: Literal["best", "last"] = "best"
    """Which epoch: ``best`` (default)
    or ``last``."""
    quick: bool = False
    """Whether to be quick."""


class Settings(Basic):
    names: tuple[str, ...] = ("a", "b")
    """Names."""
    graphs: int | None = None
    """Number of graphs."""
    table: dict[str, int] = Field(default={})
    """Has no option."""


def run(*arguments, settings=Settings, **how):
    """Call a command with options made from settings; return what it was given, and its output."""
    called = []

    @options_from(settings, leave_out=("table",), **how)
    def command(out: str = "here", **given):
        """Do something."""
        called.append((out, given))

    app = typer.Typer(add_completion=False)
    app.command(cls=ManyValues)(command)
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
    return (called[0] if called else None), result.output


def test_a_command_gets_the_options_that_were_given():
    assert run() == (("here", {}), "")
    found, _ = run("--rate", "0.25", "--names", "x", "y", "--out", "there", "--graphs", "3")
    assert found == ("there", {"rate": 0.25, "names": ["x", "y"], "graphs": 3})
    assert run("--quick")[0] == ("here", {"quick": True})
    assert run("--no-quick", "--keep", "first")[0] == ("here", {"quick": False, "keep": "first"})


def test_a_new_field_is_an_option_without_being_named_again():
    class Later(Settings):
        warm_up: int = 0
        """Number of epochs with a rising rate."""

    assert run("--warm-up", "5", settings=Later)[0] == ("here", {"warm_up": 5})
    assert "Number of epochs with a rising rate. (default: 0)" in run("--help", settings=Later)[1]


def test_values_of_another_type_are_refused():
    found, output = run("--graphs", "many")
    assert found is None
    assert "Invalid value for '--graphs'" in output


def test_help_is_the_description_with_the_default():
    _, output = run("--help")
    lines = [" ".join(line.strip("│ ").split()) for line in output.splitlines()]
    texts = [line.split("  ")[0] for line in lines if line.startswith("--")]
    assert [text.split()[0] for text in texts] == [
        "--out", "--names", "--graphs", "--rate", "--keep", "--quick", "--help",
    ]  # fmt: skip
    assert "Names. (default: a b)" in texts[1]
    assert texts[2].endswith("Number of graphs.")
    assert texts[3].endswith("Learning rate. (default: 0.5)")
    assert texts[4].endswith("best|last Which epoch: `best` (default) or `last`.")
    assert "Do something." in output


def test_a_field_may_have_another_flag():
    assert run("--name", "x", flags={"names": "--name"})[0] == ("here", {"names": ["x"]})


def test_a_type_without_an_option_is_refused():
    with pytest.raises(TypeError, match=r"no option can be made from table: .*; leave it out"):
        options_from(Settings)


def test_only_list_options_take_several_values():
    many = {"--data", "--pool"}
    assert spread(["--data", "A", "B", "--json", "--pool", "max"], many) == [
        "--data", "A", "--data", "B", "--json", "--pool", "max",
    ]  # fmt: skip
    assert spread(["--data=A", "--workers", "2"], many) == ["--data=A", "--workers", "2"]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("folds: too many; use folds=2", "--folds: too many; use --folds 2"),
        ("pools: names 'max' twice", "--pool: names 'max' twice"),
        ("rings: 7 folds are too many; use folds=6", "rings: 7 folds are too many; use --folds 6"),
        ("splits: add folds_of=FILE", "splits: add folds_of=FILE"),
        ("no folds: none", "no folds: none"),
    ],
)
def test_messages_name_flags(message, shown):
    assert with_flags(message, {"folds": "--folds", "pools": "--pool"}) == shown


def test_network_options_are_json_or_text():
    assert network_options(["head-width=8", "blend=true", "anchors=mixture"]) == {
        "head_width": 8,
        "blend": True,
        "anchors": "mixture",
    }
    with pytest.raises(SpecError, match="--option: must be NAME=VALUE, as slots=16, not 'slots'"):
        network_options(["slots"])
