"""The public names of the package."""

import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from torch_geometric.nn.aggr import Aggregation

import lfds
from lfds.config.registry import STRUCTURES
from lfds.nn.pool import LatentPool


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


def test_a_prediction_imports_neither_pyg_nor_the_compiler(tmp_path):
    """Both take longer to import than a prediction; see docs/estimator.md."""
    sets = [np.random.default_rng(k).normal(size=(5, 2)) for k in range(8)]
    options = {"width": 4, "head_width": 4}
    fitted = lfds.LFDSRegressor(epochs=1, options=options).fit(sets, list(range(8)))
    fitted.save(tmp_path / "model")
    code = (
        "import sys, numpy, lfds\n"
        f"lfds.load({str(tmp_path / 'model')!r}).predict([numpy.ones((5, 2))])\n"
        "slow = ('torch_geometric', 'torch._dynamo', 'sympy', 'sklearn.metrics', 'networkx')\n"
        "print([name for name in slow if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("[]\n", "")


def test_the_layer_of_users_is_an_aggregation_and_that_of_networks_is_the_same():
    layer = lfds.LFDSPool(8, "loop")
    assert isinstance(layer, Aggregation)
    network = lfds.nn.GraphNetwork(3, 2, lfds.nn.NetworkSettings(pool="loop", width=8))
    (inside,) = [one for one in network.modules() if isinstance(one, LatentPool)]
    assert isinstance(layer, LatentPool)
    assert repr(inside).startswith("LFDSPool(")
    assert lfds.LFDSPool.__doc__ == LatentPool.__doc__


def test_changelog_and_citation_name_the_version():
    root = Path(__file__).parents[1]
    section = next(
        line for line in (root / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")
    )
    cited = re.search(r"^version: (.+)$", (root / "CITATION.cff").read_text(), re.MULTILINE)
    assert section.split()[1] == lfds.__version__
    assert cited is not None
    assert cited[1] == lfds.__version__


@pytest.fixture
def with_absolute_links(monkeypatch):
    """The function of hatch_build.py, for which nothing has to be built."""
    interface = SimpleNamespace(MetadataHookInterface=object)
    monkeypatch.setitem(sys.modules, "hatchling.metadata.plugin.interface", interface)
    for name in ("hatchling", "hatchling.metadata", "hatchling.metadata.plugin"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace())
    path = Path(__file__).parents[1] / "hatch_build.py"
    return runpy.run_path(str(path))["with_absolute_links"]


@pytest.mark.parametrize("address", ["", "https://host.example/owner/lfds"])
def test_the_page_of_the_package_has_no_relative_links(with_absolute_links, address):
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    page = with_absolute_links(readme, address, "0.1.0")
    targets = re.findall(r"\]\(([^)]+)\)", page)
    assert all(target.startswith("https://") for target in targets)
    picture = f"{address}/raw/v0.1.0/docs/figures/landing.png"
    assert (picture in targets) == bool(address)
    assert ("the grey slot" in page) == bool(address)  # the caption goes with its picture
    assert "the atlas" in page


def test_the_readme_is_short_and_links_to_files_that_exist():
    root = Path(__file__).parents[1]
    readme = (root / "README.md").read_text()
    assert len(readme.splitlines()) <= 80  # a screen and a half
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", readme)
    assert [one for one in targets if "://" not in one and not (root / one).exists()] == []
    assert readme.count("![") == 1
