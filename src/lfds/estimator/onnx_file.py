"""The whole model in one ONNX file: from what is known of nodes to probabilities, edges included.

The inputs are ``labels`` and ``attributes`` of the nodes as they are in a GraphSet, ``structure``
(structural encodings, which are computed before), each where the model uses it, then ``ptr`` and
``edge_index``. The output is ``probabilities`` of classes, or ``amounts`` in their units
and in double precision.
"""

import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
import torch
from torch import Tensor, nn

from lfds.data.atomic_io import atomic_write
from lfds.data.encodings.compute import structural_features
from lfds.data.encodings.encoder import Encoder
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.estimator.base import GraphEstimator
from lfds.estimator.classifier import LFDSClassifier
from lfds.estimator.output_decoding import AmountMeaning, ClassMeaning
from lfds.estimator.regressor import LFDSRegressor
from lfds.nn import GraphNetwork
from lfds.nn.ops.ragged import runs_of_nodes
from lfds.nn.ops.segment import ragged_max

_MOST = 2**31 - 1
# The file holds nodes x slots x channels numbers at once.
_NODES_AT_ONCE = 4096
_NEEDED = "an ONNX file needs onnx, onnxscript and onnxruntime: pip install 'lfds[onnx]'"


def export_onnx(estimator: GraphEstimator, path: str | PathLike[str]) -> None:
    """Write a fitted model as an ONNX file, whole or not at all; it needs no ``lfds`` to run."""
    try:
        import onnx
        import onnxscript  # noqa: F401  torch's exporter needs it
    except ImportError as error:
        raise DataError(_NEEDED) from error
    model = PlainModel(estimator.network_, estimator.encoder_, estimator.meaning_).eval()
    known = [torch.zeros(4, width, dtype=dtype) for _, width, dtype in model.inputs]
    example = (known, torch.tensor([0, 2, 4]), torch.tensor([[0, 1, 2], [1, 0, 3]]))
    nodes = torch.export.Dim("nodes", min=2, max=_MOST)
    # torch takes sizes of 0 and 1 for constants; the file itself takes a single graph as well.
    shapes = (
        [{0: nodes} for _ in known],
        {0: torch.export.Dim("boundaries", min=3, max=_MOST)},
        {1: torch.export.Dim("edges", min=2, max=_MOST)},
    )
    with _quiet_exporter():
        program: Any = torch.onnx.export(
            model,
            example,
            input_names=[*(name for name, _, _ in model.inputs), "ptr", "edge_index"],
            output_names=["probabilities" if model.classes else "amounts"],
            dynamic_shapes=shapes,
            dynamo=True,
            verbose=False,
        )
    written = program.model_proto
    onnx.helper.set_model_props(written, {"classes": json.dumps(model.classes)})
    atomic_write(Path(path), written.SerializeToString())


@contextmanager
def _quiet_exporter() -> Iterator[None]:
    """Keep back what torch's exporter says about itself and about libraries it does not need."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        log.setLevel(level)


def onnx_inputs(estimator: GraphEstimator, graphs: GraphSet) -> dict[str, Any]:
    """Return what the ONNX file of a model is to be given for some graphs, by name."""
    encoder = estimator.encoder_
    batch = graphs.batch(slice(0, len(graphs)))
    tables = {
        "labels": graphs.labels,
        "attributes": graphs.attributes,
        "structure": structural_features(graphs, encoder.settings.structure),
        "ones": torch.ones(graphs.num_nodes, 1),
    }
    model = PlainModel(estimator.network_, encoder, estimator.meaning_)
    given = {name: tables[name].numpy() for name, _, _ in model.inputs}
    return {**given, "ptr": batch.ptr.numpy(), "edge_index": batch.edge_index.numpy()}


def check_onnx(
    estimator: LFDSClassifier | LFDSRegressor, path: str | PathLike[str], graphs: GraphSet
) -> float:
    """Run a file by onnxruntime, and return how far it is from what the model says, at most."""
    try:
        from onnxruntime import InferenceSession
    except ImportError as error:
        raise DataError(_NEEDED) from error
    session = InferenceSession(path)
    is_classifier = isinstance(estimator, LFDSClassifier)
    expected = (estimator.predict_proba if is_classifier else estimator.predict)(graphs)
    largest = 0.0
    for rows in runs_of_nodes(graphs.ptr, _NODES_AT_ONCE):
        (found,) = session.run(None, onnx_inputs(estimator, graphs[rows]))
        wanted = expected[rows].reshape(found.shape)
        largest = max(largest, float(np.abs(found - wanted).max()))
    return largest


class Pairs(NamedTuple):
    """Edges as PyG writes them, summed over by a basic operation."""

    source: Tensor
    target: Tensor

    def add_neighbours(self, own: Tensor, sent: Tensor) -> Tensor:
        """Add to each node what its neighbours send."""
        messages = sent[self.source]
        return own.scatter_add(0, self.target[:, None].expand_as(messages), messages)


@final
class PlainModel(nn.Module):
    """A fitted model in basic operations, which any runtime knows.

    Args:
        network: Its weights are shared.
        encoder: What it was fitted with.
        meaning: What its outputs mean.

    Attributes:
        inputs: Name, width and dtype of each table of nodes it takes.
        classes: Names of the classes, none for quantities.
    """

    shift: Tensor
    scale: Tensor

    def __init__(
        self, network: GraphNetwork, encoder: Encoder, meaning: ClassMeaning | AmountMeaning
    ) -> None:
        super().__init__()
        self.network = network
        self.values = encoder.label_values
        means, scales = encoder.attribute_scales
        self.shift = nn.Buffer(torch.tensor(means, dtype=torch.float64))
        self.scale = nn.Buffer(torch.tensor(scales, dtype=torch.float64))
        structure = network.in_channels - sum(map(len, self.values)) - len(means)
        tables = (
            ("labels", len(self.values), torch.int64),
            ("attributes", len(means), torch.float32),
            ("ones" if encoder.names == ("one",) else "structure", structure, torch.float32),
        )
        self.inputs = [table for table in tables if table[1]]
        self.classes = list(meaning.names) if isinstance(meaning, ClassMeaning) else []
        self.meaning = meaning

    def forward(self, known: list[Tensor], ptr: Tensor, edge_index: Tensor) -> Tensor:
        tables = zip(self.inputs, known, strict=True)
        x = torch.cat([self._encoded(name, table) for (name, _, _), table in tables], dim=1)
        everything, last = self.network.base(x, Pairs(edge_index[0], edge_index[1]))
        # A latent structure reads no edges, and stands beside the maximum over all layers.
        pool = self.network.pool
        pooled = pool(everything if pool.uses_all_layers else last, ptr, None)
        vectors = [ragged_max(everything, ptr), pooled]
        return self._read(self.network.head(torch.cat(vectors, dim=1)))

    def _encoded(self, name: str, table: Tensor) -> Tensor:
        if name == "attributes":
            return ((table.double() - self.shift) / self.scale).float()
        if name != "labels":
            return table
        columns = [table[:, k, None] == torch.tensor(seen) for k, seen in enumerate(self.values)]
        return torch.cat(columns, dim=1).float()

    def _read(self, outputs: Tensor) -> Tensor:
        if isinstance(self.meaning, ClassMeaning):
            return (outputs / self.meaning.temperature).softmax(dim=1)
        # As the model does it: single precision would round a small spread about a large mean off.
        means = torch.tensor(self.meaning.means, dtype=torch.float64)
        scales = torch.tensor(self.meaning.scales, dtype=torch.float64)
        return outputs.double() * scales + means
