"""The public names, and how cheaply they are had."""

import subprocess
import sys

import pytest

import lfds


@pytest.mark.parametrize("name", lfds.__all__)
def test_every_promised_name_is_there(name):
    assert getattr(lfds, name) is not None
    assert name in dir(lfds)


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match=r"no attribute 'LFDSPooling'; it offers .*LFDSPool"):
        _ = lfds.LFDSPooling


def test_importing_lfds_does_not_import_torch():
    code = "import sys, lfds; lfds.__version__; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
