"""Options a caller spells out: one of a few words, or a whole number as seed."""

import difflib
import operator
from collections.abc import Collection

from lfds.data.errors import DataError, quoted


def choice(value: object, allowed: Collection[str], name: str) -> None:
    """Raise unless ``value`` is one of the words the option ``name`` knows, and offer the nearest.

    >>> choice("keep", ("keep", "remove"), "self_loops")
    """
    if isinstance(value, str) and value in allowed:
        return
    near = difflib.get_close_matches(str(value).lower(), allowed, n=1, cutoff=0.5)
    hint = f"; did you mean {quoted(near[0])}?" if near else ""
    words = " or ".join(map(quoted, allowed))
    raise DataError(f"needs {words}, not {quoted(value)}{hint}", source=name)


def whole_seed(seed: object) -> int:
    """Return ``seed`` as a plain whole number, since equal numbers must name equal streams."""
    try:
        if isinstance(seed, bool):
            raise TypeError
        return operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        raise DataError(f"needs a whole number, not {quoted(seed)}", source="seed") from None
