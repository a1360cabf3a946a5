"""The public names of the package."""

import subprocess
import sys

import pytest

import lfds
from lfds.config.registry import STRUCTURES


@pytest.mark.parametrize("name", lfds.__all__)
def test_every_public_name_exists(name):
    assert getattr(lfds, name) is not None
    assert name in dir(lfds)


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(AttributeError, match=r"no attribute 'LFDSPooling'; it offers .*LFDSPool"):
        _ = lfds.LFDSPooling


def test_the_names_that_users_build_on():
    """Those of the README and the documentation; removing one breaks other people's code."""
    promised = {
        "LFDSPool", "LFDSClassifier", "LFDSRegressor", "load", "load_dataset", "GraphSet", "atlas",
        "STRUCTURES", "Image", "Array", "Sequence", "Loop", "LearnedGraph", "LearnedSpectrum",
        "LatentGraph", "nn", "data", "testing",
    }  # fmt: skip
    assert promised <= set(lfds.__all__)
    assert {"distribute", "shares", "penalty"} <= set(lfds.nn.__all__)
    assertions = {"assert_permutation_invariant", "assert_batch_independent"}
    assert assertions <= set(lfds.testing.__all__)


@pytest.mark.parametrize("module", [lfds.nn, lfds.testing, lfds.data])
def test_every_public_name_of_a_module_exists(module):
    assert all(getattr(module, name) is not None for name in module.__all__)


@pytest.mark.parametrize("entry", STRUCTURES.values(), ids=lambda entry: entry.class_name)
def test_every_structure_of_the_registry_is_public(entry):
    assert getattr(lfds, entry.class_name) is getattr(lfds.nn, entry.class_name) is entry.load()
    assert entry.class_name in lfds.__all__


def test_importing_lfds_does_not_import_torch():
    code = "import sys, lfds; lfds.__version__; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
