"""The examples of docs/data.md are run, and must print what the page shows."""

import doctest
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "data.md"


def test_the_page_shows_what_happens():
    pytest.importorskip("rdkit", reason="rdkit comes with the extra `chem`")
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, optionflags=options)
    assert tried > 30
    assert failed == 0


@pytest.mark.parametrize("module", ["lfds.seeds", "lfds.data.arrays", "lfds.data.splits"])
def test_examples_in_docstrings_are_true(module):
    failed, tried = doctest.testmod(__import__(module, fromlist=["_"]))
    assert tried > 0
    assert failed == 0
