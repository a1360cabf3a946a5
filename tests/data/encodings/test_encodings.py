import subprocess
import sys

import pytest

from lfds.data import encodings
from lfds.data.encodings import STRUCTURAL


def test_every_encoding_stands_under_its_own_name():
    assert STRUCTURAL["none"] == ()
    for name, (encoding, *rest) in list(STRUCTURAL.items())[1:]:
        assert encoding.kind == name
        assert not rest


def test_a_name_that_is_not_there_is_told_what_is():
    with pytest.raises(AttributeError, match=r"it offers .*RWSE"):
        encodings.Rwse  # noqa: B018


def test_what_workers_import_does_not_bring_torch():
    code = "import sys, lfds.data.encodings.compute; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
