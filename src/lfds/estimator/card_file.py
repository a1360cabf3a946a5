"""The card of a model as a file: its format and version, and a checksum of what it says."""

import hashlib
import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lfds.config.migrations import legacy_defaults
from lfds.config.network import NetworkSettings
from lfds.data.errors import DataError
from lfds.estimator.model_card import ModelCard

FORMAT, VERSION = "lfds model", 1
AGAIN = "copy or save the model again"


def card_text(card: ModelCard) -> str:
    """Return a card as it is written."""
    written = card.model_dump(mode="json")
    head = {"format": FORMAT, "version": VERSION, "sha256": digest(written), "model": written}
    return json.dumps(head, indent=1) + "\n"


def read_card(source: Path) -> ModelCard:
    """Read a card, and prove that it is what was written."""
    head = read_head(source)
    version = head.get("version")
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        way = "update lfds" if newer else AGAIN
        raise DataError(
            f"is in format {version!r}, and this lfds reads format {VERSION}; {way}", source=source
        )
    # Of what is in the file: a setting that came later must not spoil what was written before.
    if digest(head.get("model")) != head.get("sha256"):
        raise unsound(source, "its checksum differs")
    try:
        return ModelCard.model_validate(_spelt_out(head.get("model")))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise unsound(source, f"{where}: {first['msg']}") from error


def _spelt_out(model: Any) -> Any:
    """A card with what went without saying before it could be chosen."""
    if not isinstance(model, dict) or not isinstance(model.get("network"), dict):
        return model
    later = {
        name: value
        for name, value in legacy_defaults(NetworkSettings).items()
        if name not in model["network"]
    }
    told = {**model, "network": {**later, **model["network"]}}
    parameters = model.get("parameters")
    chosen = parameters.get("options") if isinstance(parameters, dict) else None
    if later and isinstance(parameters, dict) and isinstance(chosen, dict | None):
        # Else fitting on, or fitting a copy, would ask for the network of today.
        told["parameters"] = {**parameters, "options": {**later, **(chosen or {})}}
    return told


def read_head(source: Path) -> dict[str, Any]:
    """Read a file that says it is a card, in whatever version."""
    content = file_content(source)  # outside: what it raises is a ValueError as well
    try:
        head: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"cannot be read as JSON ({error}); {AGAIN}", source=source) from error
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise DataError(f'is no model: it needs "format": "{FORMAT}"', source=source)
    return head


def digest(written: object) -> str:
    """Return the SHA-256 of something as JSON, however it is spaced."""
    text = json.dumps(written, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def file_content(file: Path) -> bytes:
    """Read a file of a model, or say that it is missing."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise DataError(f"is missing; {AGAIN}", source=file) from None
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", source=file) from error


def unsound(source: Path, problem: str) -> DataError:
    """Return the error for a file that was changed after it was written."""
    return DataError(f"is not what was saved: {problem}; {AGAIN}", source=source)
