"""Objects made of parts, built in: sets and graphs on which maxima, and means, must fail."""

from lfds.data.parts.objects import parts
from lfds.data.parts.settings import PartsSettings

__all__ = ["PartsSettings", "parts"]
