"""Which features the nodes get."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializeAsAny,
    ValidationError,
    field_validator,
    model_validator,
)

from lfds.config.messages import SpecError, choose_from, one_line
from lfds.config.registry import ENCODINGS

if TYPE_CHECKING:
    from lfds.data.encodings.base import StructuralEncoding as Structural
else:
    Structural = Any

NAMES = ("none", *ENCODINGS)
"""What may be requested by name: an encoding with its default settings, or none."""


class EncodingSettings(BaseModel):
    """Which features the nodes get, side by side in this order.

    Attributes:
        labels: One column for each value of each label, where the graphs have labels.
        attributes: Standardized attributes, where the graphs have any.
        structure: Structural encodings, none or several: settings, or names of ``ENCODINGS``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    labels: bool = True
    attributes: bool = True
    structure: tuple[SerializeAsAny[Structural], ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        for name in given if isinstance(given, dict) else ():
            if name not in cls.model_fields:
                raise ValueError(
                    f"no setting is called {name!r}; {choose_from(name, cls.model_fields)}"
                )
        return given

    @field_validator("structure", mode="before")
    @classmethod
    def _by_name(cls, structure: Any) -> Any:
        """Replace names and settings by the encodings they stand for."""
        entries = (structure,) if isinstance(structure, str) else structure
        if not isinstance(entries, list | tuple):
            return structure
        return tuple(_encoding(entry) for entry in entries if entry != "none")


def _encoding(entry: Any) -> Any:
    """The encoding of a name, of settings with their ``kind``, or the encoding that it is."""
    if isinstance(entry, str):
        if entry not in ENCODINGS:
            raise ValueError(f"no encoding is called {entry!r}; {choose_from(entry, NAMES)}")
        return ENCODINGS[entry].load()()
    if isinstance(entry, Mapping):
        kind = entry.get("kind")
        if kind not in ENCODINGS:
            raise ValueError(f"no encoding is called {kind!r}; {choose_from(kind, NAMES)}")
        encoding = ENCODINGS[str(kind)].load()
        try:
            return encoding.model_validate(entry)
        except ValidationError as error:
            raise ValueError(f"{kind}: {one_line(error, encoding.model_fields)}") from None
    if type(entry) not in {encoding.load() for encoding in ENCODINGS.values()}:
        raise ValueError(f"needs an encoding or the name of one, not {entry!r}")
    return entry


def encoding_from(names: str | Sequence[str]) -> EncodingSettings:
    """Return the settings of encodings given by name; what is wrong with one is one line."""
    names = [names] if isinstance(names, str) else list(names)
    if "auto" in names:
        raise SpecError("encoding: 'auto' stands alone; leave it out of the list")
    for name in names:
        if name not in NAMES:
            known = ("auto", *NAMES)
            raise SpecError(f"encoding: no encoding is called {name!r}; {choose_from(name, known)}")
    return EncodingSettings.model_validate({"structure": names})
