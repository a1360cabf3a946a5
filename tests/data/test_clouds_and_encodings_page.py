"""The examples of docs/clouds-and-encodings.md are run, and must print what the page shows."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "clouds-and-encodings.md"


def test_the_page_shows_what_happens():
    options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=options)
    assert tried > 20
    assert failed == 0
