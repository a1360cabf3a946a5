from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from lfds.config.messages import (
    SpecError,
    as_message,
    choose_from,
    closest,
    did_you_mean,
    one_line,
    shortened,
)
from lfds.data.errors import DataError
from lfds.results.record import ResultsError


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    steps: int = 1


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")
    slots: int = 16
    pool: str = "loop"
    encoding: Literal["auto"] | Inner = "auto"

    @field_validator("slots")
    @classmethod
    def _even(cls, slots):
        if slots % 2:
            raise ValueError(f"slots must be even, got {slots}")
        return slots

    @field_validator("pool")
    @classmethod
    def _short(cls, pool):
        if len(pool) > 5:
            raise ValueError(f"{pool!r} is too long")
        return pool


def message(**options):
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate(options)
    return one_line(caught.value, Settings.model_fields)


def test_the_closest_name_ignores_case():
    assert closest("LOP", ["loop", "Image"]) == "loop"
    assert closest("image", ["loop", "Image"]) == "Image"
    assert closest("zzz", ["loop", "image"]) is None
    assert closest(None, ["loop"]) is None


def test_a_hint_is_given_only_for_a_close_name():
    assert did_you_mean("lop", ["loop"]) == "; did you mean 'loop'?"
    assert did_you_mean("zzz", ["loop"]) == ""


def test_all_names_are_listed():
    assert choose_from("lop", {"max": 1, "loop": 2}) == "did you mean 'loop'? choose from max, loop"
    assert choose_from("zzz", {"max": 1, "loop": 2}) == "choose from max, loop"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"slts": 3},
            "no option is called 'slts'; did you mean 'slots'? choose from slots, pool, encoding",
        ),
        ({"slots": 3}, "slots must be even, got 3"),
        ({"pool": "learned"}, "pool: 'learned' is too long"),
        (
            {"slots": "x"},
            "slots: Input should be a valid integer, unable to parse string as an integer, not 'x'",
        ),
    ],
)
def test_a_validation_error_is_one_line(options, expected):
    assert message(**options) == expected


def test_of_a_union_the_member_that_was_validated_furthest_is_reported():
    found = message(encoding={"steps": "many"})
    assert found.startswith("encoding.Inner.steps: Input should be a valid integer")
    assert found.endswith("not 'many'")


def test_the_first_of_several_errors_is_reported():
    assert message(slots=3, encoding={"steps": "many"}) == "slots must be even, got 3"


def test_a_message_is_short_and_printable_whatever_a_name_holds():
    message = as_message("file: " + "x\x1b[2J\ud800\u202e\n" * 10_000 + "; remove it")
    assert len(message) < 1000
    assert message.isprintable()
    assert message.startswith("file: x\\x1b[2J\\ud800\\u202e x")
    assert message.endswith("; remove it")
    for error in (SpecError, DataError, ResultsError):
        assert len(str(error("y" * 10_000))) < 1000


def test_values_are_shortened():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert len(shortened(deep)) < 100
    assert len(shortened("z" * 10_000)) < 200
    assert shortened("short") == "'short'"
    assert closest("w" * 10**7, ["loop"]) is None
