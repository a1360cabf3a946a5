"""The model card: everything about a saved model that is not a tensor, as a JSON file."""

import hashlib
import json
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, ValidationError

from lfds import __version__
from lfds.config.migrations import (
    SCHEMA_VERSION,
    VERSION_KEY,
    added_fields,
    check_version,
    legacy_defaults,
    version_of,
)
from lfds.config.strict_json import strict_json
from lfds.data.errors import DataError, check_regular
from lfds.data.graphset import GraphSet
from lfds.data.readers.atom_features import LEGACY_ATOM_FEATURES, SMILES_COLUMN, MoleculeOptions
from lfds.data.storage import content_of
from lfds.estimator.options import OWN_SETTINGS, Options
from lfds.estimator.output_decoding import StoredDecoder
from lfds.nn import NetworkSettings
from lfds.train.loop import Progress

FORMAT, VERSION = "lfds model", 1
_FIX = "copy or save the model again"
_FORBID = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
_LIBRARIES = ("torch", "torch-geometric", "numpy", "scipy", "scikit-learn", "safetensors")


def _library_versions() -> dict[str, str]:
    libraries = {name: version(name) for name in _LIBRARIES}
    return {"lfds": __version__, "python": platform.python_version(), **libraries}


class TrainingData(BaseModel):
    """Which graphs a model was fitted on.

    Attributes:
        name: Name of the GraphSet.
        graphs: Number of graphs.
        fingerprint: Hash of everything that could be learned from.
        molecules: How molecules were read, so that others are read in the same way; models of
            earlier versions know the basic features only.
        target_names: Columns that were predicted, so that others are evaluated on the same; empty
            if they have no names, and in models of earlier versions.
    """

    model_config = _FORBID
    name: str
    graphs: int
    fingerprint: str
    molecules: MoleculeOptions = MoleculeOptions(atom_features=LEGACY_ATOM_FEATURES)
    target_names: tuple[str, ...] = ()

    @classmethod
    def of(cls, graphs: GraphSet, *, targets: bool = True) -> Self:
        """Describe some graphs; ``targets`` says whether theirs were fitted."""
        return cls(
            name=graphs.name,
            graphs=len(graphs),
            fingerprint=content_of(graphs),
            molecules=MoleculeOptions.of(graphs),
            target_names=graphs.target_names if targets else (),
        )


class ModelCard(BaseModel):
    """Everything about a saved model that is not a tensor.

    Attributes:
        parameters: The options of the estimator.
        network: The settings of the network.
        features: Number of features of a node.
        edge_features: Number of features of an edge; 0 before they were used.
        decoder: How outputs become classes or values; stored as ``meaning``.
        training_data: Which graphs it was fitted on.
        history: Losses and scores of every epoch, of the first member of an ensemble.
        other_histories: Those of its other members.
        fits: How often ``fit`` was called.
        versions: Versions of Python and of the libraries that wrote it.
        files: SHA-256 of every other file of the folder.
    """

    model_config = _FORBID
    parameters: Options
    network: NetworkSettings
    features: PositiveInt
    edge_features: NonNegativeInt = 0
    decoder: StoredDecoder = Field(alias="meaning")
    training_data: TrainingData
    history: Progress
    other_histories: list[Progress] = []
    fits: int = Field(ge=0)
    versions: dict[str, str] = Field(default_factory=_library_versions)
    files: dict[str, str] = {}

    @property
    def members(self) -> int:
        """Number of networks."""
        return 1 + len(self.other_histories)


def card_text(card: ModelCard) -> str:
    """Return a card as JSON, with its format, its version and a checksum."""
    # What is empty is left out, so that earlier versions read the card.
    unused: dict[str, Any] = {} if card.members > 1 else {"other_histories": True}
    of_data: dict[str, Any] = {} if card.training_data.target_names else {"target_names": True}
    if card.training_data.molecules.smiles_column == SMILES_COLUMN:
        of_data["molecules"] = {"smiles_column"}
    if of_data:
        unused["training_data"] = of_data
    model = card.model_dump(mode="json", by_alias=True, exclude=unused)
    head = {"format": FORMAT, "version": VERSION, VERSION_KEY: SCHEMA_VERSION}
    return json.dumps({**head, "sha256": digest(model), "model": model}, indent=1) + "\n"


def read_card(source: Path) -> ModelCard:
    """Read a card and verify its checksum."""
    head = read_head(source)
    _check_versions(head, source)
    # The checksum is that of the file: settings added later are not part of it.
    if digest(head.get("model")) != head.get("sha256"):
        raise damaged(source, "its checksum differs")
    try:
        return ModelCard.model_validate(_migrate(head.get("model")))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise damaged(source, f"{where}: {first['msg']}") from error


def read_head(source: Path) -> dict[str, Any]:
    """Read a card of any version, without looking at its model."""
    content = file_content(source)  # outside of `try`: a DataError is a ValueError
    try:
        head: Any = strict_json(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"invalid JSON ({error}); {_FIX}", source=source) from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise DataError(f'is not a model: it needs "format": "{FORMAT}"', source=source)
    return head


def digest(content: object) -> str:
    """Return the SHA-256 of something as JSON, whatever its spacing."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def file_content(file: Path) -> bytes:
    """Read a file of a model folder."""
    try:
        if file.exists():
            check_regular(file)
        return file.read_bytes()
    except FileNotFoundError:
        raise DataError(f"is missing; {_FIX}", source=file) from None
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", source=file) from error


def damaged(source: Path, problem: str) -> DataError:
    """Return the error for a file that was changed after it was written."""
    return DataError(f"is not what was saved: {problem}; {_FIX}", source=source)


def _check_versions(head: Mapping[str, Any], source: Path) -> None:
    found = head.get("version")
    if found != VERSION:
        newer = isinstance(found, int) and found > VERSION
        fix = "update lfds" if newer else _FIX
        raise DataError(
            f"is in format {found!r}, and this lfds reads format {VERSION}; {fix}", source=source
        )
    try:
        check_version(version_of(head))
    except ValueError as error:
        raise DataError(str(error), source=source) from None


def _migrate(model: Any) -> Any:
    """Return a stored model with the settings that were in effect before they could be chosen."""
    if not isinstance(model, dict) or not isinstance(model.get("network"), dict):
        return model
    network, parameters = model["network"], model.get("parameters")
    before = legacy_defaults(NetworkSettings)
    network = {**{name: before[name] for name in before if name not in network}, **network}
    migrated = {**model, "network": network}
    chosen = parameters.get("options") if isinstance(parameters, dict) else None
    if isinstance(parameters, dict) and isinstance(chosen, dict | None):
        fields = NetworkSettings.model_fields
        later = {name: network.get(name, fields[name].default) for name, _ in _LATER}
        kept = {name: value for name, value in later.items() if value != fields[name].default}
        # Otherwise a warm start, or a fit of a copy, would build a network with today's defaults.
        if kept:
            migrated["parameters"] = {**parameters, "options": {**kept, **(chosen or {})}}
    return migrated


_LATER = tuple(one for one in added_fields(NetworkSettings) if one[0] not in OWN_SETTINGS)
"""Settings that were added later, or whose defaults changed; not options of their own."""
