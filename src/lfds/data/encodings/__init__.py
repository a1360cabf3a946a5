"""Node encodings: features made of labels, attributes and structure."""

import importlib
from typing import Any

from lfds.config.registry import ENCODINGS

_HOMES = {
    "Encoder": "lfds.data.encodings.encoder",
    "EncodingSettings": "lfds.config.encoding",
    "StructuralEncoding": "lfds.data.encodings.base",
}
_CLASSES = {entry.class_name: entry for entry in ENCODINGS.values()}

__all__ = ["Encoder", "EncodingSettings", "StructuralEncoding"]  # pyright: ignore
__all__ += _CLASSES


def __getattr__(name: str) -> Any:
    # All encodings of the registry: RWSE, Degree, ... Imported on use: the processes that compute
    # encodings start three times as fast without torch.
    if name in _CLASSES:
        return _CLASSES[name].load()
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(
        f"module 'lfds.data.encodings' has no attribute {name!r}; it offers {', '.join(__all__)}"
    )
