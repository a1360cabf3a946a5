import subprocess
import sys

import pytest

import lfds.estimator


def test_everything_offered_is_there():
    for name in dir(lfds.estimator):
        assert getattr(lfds.estimator, name).__name__ == name
    with pytest.raises(AttributeError, match="it offers LFDSClassifier"):
        _ = lfds.estimator.Classifier


def test_the_package_itself_imports_nothing_heavy():
    code = "import sys, lfds.cli.estimator; print('torch' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"
