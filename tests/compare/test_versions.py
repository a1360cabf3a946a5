import platform

import numpy
import torch

import lfds
from lfds.compare.versions import versions


def test_versions_are_those_of_what_is_imported():
    found = versions()
    assert found["lfds"] == lfds.__version__
    assert found["python"] == platform.python_version()
    assert found["torch"].split("+")[0] == torch.__version__.split("+")[0]
    assert found["numpy"] == numpy.__version__
