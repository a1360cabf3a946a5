"""Settings are described once, in the docstring of their model."""

from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from lfds.config.comparison import CompareSpec
from lfds.config.network import NetworkSettings
from lfds.config.training import TrainingSettings
from lfds.estimator.options import Options
from tests.config.descriptions import descriptions, options_table

DOCS = Path(__file__).parents[2] / "docs"


class Base(BaseModel):
    """A base.

    Attributes:
        width: Number of
            channels.
    """

    width: int = Field(default=3, ge=1)


class Derived(Base):
    """A model with a base.

    Attributes:
        name: Either ``"a"`` or :class:`b`; not a|b.

    More text: which is no setting.
    """

    name: Literal["a", "b"]


class Titled(Base):
    """A model with a title and a description in its field."""

    width: int = Field(default=3, title="an odd number", description="Number of\nslots.")


def test_descriptions_are_collected_from_all_bases():
    assert descriptions(Derived) == {
        "width": "Number of channels.",
        "name": 'Either ``"a"`` or :class:`b`; not a|b.',
    }


def test_a_table_of_settings():
    assert options_table(Derived).splitlines() == [
        "| option | values | default | meaning |",
        "|---|---|---|---|",
        "| `width` | int, >= 1 | `3` | Number of channels. |",
        '| `name` | `"a"`, `"b"` | required | Either `"a"` or `b`; not a\\|b. |',
    ]
    last = options_table(Titled).splitlines()[-1]
    assert last == "| `width` | an odd number | `3` | Number of slots. |"


@pytest.mark.parametrize("settings", [NetworkSettings, TrainingSettings, CompareSpec, Options])
def test_every_setting_is_described(settings):
    found = descriptions(settings)
    assert set(found) == set(settings.model_fields)
    assert all(text.endswith(".") for text in found.values())


def test_a_setting_without_description_is_an_error():
    class Undescribed(Base):
        height: int = 1

    with pytest.raises(KeyError, match="height"):
        descriptions(Undescribed)


@pytest.mark.parametrize(
    ("page", "settings"), [("models.md", NetworkSettings), ("estimator.md", Options)]
)
def test_tables_in_the_documentation_are_up_to_date(page, settings):
    """To update one, replace the text between the two marks by ``options_table``."""
    text = (DOCS / page).read_text(encoding="utf-8")
    begin, end = "<!-- options: begin -->\n", "<!-- options: end -->"
    found = text.partition(begin)[2].partition(end)[0]
    assert found == options_table(settings) + "\n"
