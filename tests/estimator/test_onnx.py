"""An exported ONNX file predicts what the model predicts."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lfds
from lfds.data.errors import DataError
from lfds.estimator.onnx import check_onnx, export_onnx, onnx_inputs
from tests.estimator.small import FAST, classifier, graphs, values

pytest.importorskip("onnxscript")
runtime = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.plain
SHARED = Path(__file__).parents[3] / "shared" / "data"


def bare():
    """The graphs without node labels and attributes."""
    data = graphs()
    none = data.x[:, :0]
    return replace(data, attributes=none, x=none, labels=data.labels[:, :0], label_values=())


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """One export for several tests: each takes seconds."""
    path = tmp_path_factory.mktemp("onnx") / "model.onnx"
    export_onnx(classifier(), path)
    return path


def test_a_classifier_with_labels_and_attributes(path):
    assert [entry.name for entry in path.parent.iterdir()] == ["model.onnx"]
    assert check_onnx(classifier(), path, graphs()) < 1e-5
    # A single graph, and a single node without edges.
    assert check_onnx(classifier(), path, graphs()[3]) < 1e-5
    dot = lfds.GraphSet.from_arrays([1], [[], []], attributes=[[0.5]], labels=[2])
    assert check_onnx(classifier(), path, dot) < 1e-5
    session = runtime.InferenceSession(path)
    assert [one.name for one in session.get_inputs()] == [
        "labels", "attributes", "ptr", "edge_index",
    ]  # fmt: skip
    assert session.get_modelmeta().custom_metadata_map["classes"] == '["path", "ring"]'


def test_check_onnx_finds_another_model(path):
    other = lfds.LFDSClassifier(**FAST, seed=9).fit(graphs())
    assert check_onnx(other, path, graphs()) > 1e-3


def test_the_file_uses_edges(path):
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
def test_a_regressor_with_structural_encodings(structure, encoding, tmp_path):
    # Channels that hardly vary, as here, lose digits when they are normalized.
    options = {**FAST["options"], "vector_norm": False}
    made = lfds.LFDSRegressor(
        structure, **{**FAST, "epochs": 1, "options": options}, encoding=encoding
    )
    # A small spread about a large mean, where single precision is as coarse as 0.06.
    made.fit(bare(), 1e6 + values() / values().std())
    export_onnx(made, tmp_path / "model.onnx")
    assert check_onnx(made, tmp_path / "model.onnx", bare()) < 1e-4


def test_a_network_that_pools_the_last_layer(tmp_path):
    options = {**FAST, "epochs": 1, "options": {**FAST["options"], "pooled_layers": "last"}}
    made = lfds.LFDSClassifier(**options).fit(graphs())
    export_onnx(made, tmp_path / "model.onnx")
    assert check_onnx(made, tmp_path / "model.onnx", graphs()) < 1e-5


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
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
