"""Node encodings: features made of labels, attributes and structure."""

from lfds.config.registry import ENCODINGS
from lfds.lazy import lazy_names

# On use: the processes that compute encodings start three times as fast without torch.
_HOMES = {
    "Encoder": "lfds.data.encodings.encoder",
    "EncodingSettings": "lfds.config.encoding",
    "StructuralEncoding": "lfds.data.encodings.base",
    # All encodings of the registry: RWSE, Degree, ...
    **{entry.class_name: entry.module for entry in ENCODINGS.values()},
}

__all__ = [*_HOMES]  # pyright: ignore

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
