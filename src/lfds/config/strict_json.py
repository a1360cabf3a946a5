"""JSON that means one thing: repeated keys, and text that cannot be written, are refused."""

import json
from typing import Any


def strict_json(text: str | bytes) -> Any:
    """Read JSON.

    Raises:
        ValueError: It is invalid; a key occurs twice, of which readers take the first or the last;
            or it holds half of a character, which no file can be written with.
        RecursionError: It is nested too deeply.

    >>> strict_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the key 'a' occurs twice
    """
    content = text.decode("utf-8") if isinstance(text, bytes) else text
    found = json.loads(content, object_pairs_hook=_without_duplicates)
    if "\\u" in content:
        try:
            json.dumps(found, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError("it holds half of a character (a lone surrogate)") from error
    return found


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ValueError(f"the key {twice[:60]!r} occurs twice")
    return found
