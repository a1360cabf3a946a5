"""The whole model in an ONNX file says what the model says."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lfds
from lfds.data.errors import DataError
from lfds.estimator.onnx_file import check_onnx, export_onnx, onnx_inputs
from tests.estimator.small import FAST, amounts, classifier, graphs

pytest.importorskip("onnxscript")
runtime = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.plain
SHARED = Path(__file__).parents[3] / "shared" / "data"


def bare():
    known = graphs()
    none = known.x[:, :0]
    return replace(known, attributes=none, x=none, labels=known.labels[:, :0], label_values=())


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """One export for all: each takes seconds."""
    path = tmp_path_factory.mktemp("onnx") / "model.onnx"
    export_onnx(classifier(), path)
    return path


def test_classes_from_labels_and_attributes(path):
    assert [entry.name for entry in path.parent.iterdir()] == ["model.onnx"]
    assert check_onnx(classifier(), path, graphs()) < 1e-5
    # One graph alone, one node alone, and no edge at all.
    assert check_onnx(classifier(), path, graphs()[3]) < 1e-5
    dot = lfds.GraphSet.from_arrays([1], [[], []], attributes=[[0.5]], labels=[2])
    assert check_onnx(classifier(), path, dot) < 1e-5
    session = runtime.InferenceSession(path)
    assert [one.name for one in session.get_inputs()] == [
        "labels", "attributes", "ptr", "edge_index",
    ]  # fmt: skip
    assert session.get_modelmeta().custom_metadata_map["classes"] == '["path", "ring"]'


def test_a_wrong_model_would_be_noticed(path):
    other = lfds.LFDSClassifier(**FAST, seed=9).fit(graphs())
    assert check_onnx(other, path, graphs()) > 1e-3


def test_edges_matter_to_the_file(path):
    given = onnx_inputs(classifier(), graphs())
    session = runtime.InferenceSession(path)
    (with_edges,) = session.run(None, given)
    (without,) = session.run(None, {**given, "edge_index": given["edge_index"][:, :0]})
    assert not np.allclose(with_edges, without, atol=1e-4)


@pytest.mark.parametrize(
    ("structure", "encoding"),
    [
        ("image", "auto"),
        pytest.param("learned-spectral", "none", marks=pytest.mark.slow),
    ],
)
def test_amounts_from_structure_alone(structure, encoding, tmp_path):
    made = lfds.LFDSRegressor(structure, **{**FAST, "epochs": 1}, encoding=encoding)
    # A small spread about a large mean, where single precision is as coarse as 0.06.
    made.fit(bare(), 1e6 + amounts() / amounts().std())
    export_onnx(made, tmp_path / "model.onnx")
    assert check_onnx(made, tmp_path / "model.onnx", bare()) < 1e-5


def test_the_last_layer_alone(tmp_path):
    told = {**FAST, "epochs": 1, "options": {**FAST["options"], "pooled_layers": "last"}}
    made = lfds.LFDSClassifier(**told).fit(graphs())
    export_onnx(made, tmp_path / "model.onnx")
    assert check_onnx(made, tmp_path / "model.onnx", graphs()) < 1e-5


def test_without_the_extra_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(DataError, match=r"pip install 'lfds\[onnx\]'"):
        export_onnx(classifier(), tmp_path / "model.onnx")


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED / "ENZYMES").exists(), reason="no shared data here")
def test_real_graphs(tmp_path):
    enzymes = lfds.load_dataset("ENZYMES", root=SHARED)[:120]
    made = lfds.LFDSClassifier(epochs=1).fit(enzymes)
    export_onnx(made, tmp_path / "model.onnx")
    assert check_onnx(made, tmp_path / "model.onnx", enzymes) < 1e-5
