"""Export of a whole model as an ONNX file, from node labels and attributes to probabilities.

The inputs are ``labels`` and ``attributes`` of the nodes as a GraphSet has them, ``structure``
(structural encodings, computed beforehand), each if the model uses it, then ``ptr`` and
``edge_index``. The output is ``probabilities`` of classes, or of the second class of each of
several targets, or ``values`` in double precision.
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
from lfds.estimator.output_decoding import ClassDecoder, Decoder, MultiLabelDecoder, ValueDecoder
from lfds.estimator.regressor import LFDSRegressor
from lfds.nn import GraphNetwork
from lfds.nn.ops.ragged import runs_of_nodes

_LARGEST_SIZE = 2**31 - 1
# Running the file takes nodes x slots x channels numbers of memory.
_NODES_OF_A_BATCH = 4096
_MISSING = "an ONNX file needs onnx, onnxscript and onnxruntime: pip install 'lfds[onnx]'"


def export_onnx(estimator: GraphEstimator[Any], path: str | PathLike[str]) -> None:
    """Write a fitted model as an ONNX file, which runs without ``lfds``."""
    try:
        import onnx
        import onnxscript  # noqa: F401  torch's exporter needs it
    except ImportError as error:
        raise DataError(_MISSING) from error
    if estimator.encoder_.hashed_labels:
        raise DataError(
            "has node labels of so many values that they are hashed, which an ONNX file cannot "
            "do; fit a model with attributes instead of these labels",
            source="model",
        )
    model = OnnxModel(estimator.network_, estimator.encoder_, estimator.decoder_).eval()
    tables = [torch.zeros(4, width, dtype=dtype) for _, width, dtype in model.inputs]
    example = (tables, torch.tensor([0, 2, 4]), torch.tensor([[0, 1, 2], [1, 0, 3]]))
    nodes = torch.export.Dim("nodes", min=2, max=_LARGEST_SIZE)
    # torch specializes sizes of 0 and 1; the file itself takes a single graph as well.
    shapes = (
        [{0: nodes} for _ in tables],
        {0: torch.export.Dim("boundaries", min=3, max=_LARGEST_SIZE)},
        {1: torch.export.Dim("edges", min=2, max=_LARGEST_SIZE)},
    )
    with _quiet_exporter():
        program: Any = torch.onnx.export(
            model,
            example,
            input_names=[*(name for name, _, _ in model.inputs), "ptr", "edge_index"],
            output_names=["probabilities" if model.classes else "values"],
            dynamic_shapes=shapes,
            dynamo=True,
            verbose=False,
        )
    proto = program.model_proto
    names = {"classes": model.classes, "targets": model.targets}
    given = {key: json.dumps(one) for key, one in names.items() if one or key == "classes"}
    onnx.helper.set_model_props(proto, given)
    atomic_write(Path(path), proto.SerializeToString())


@contextmanager
def _quiet_exporter() -> Iterator[None]:
    """Hide the log of torch's exporter, and warnings about libraries it does not need."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        log.setLevel(level)


def onnx_inputs(estimator: GraphEstimator[Any], graphs: GraphSet) -> dict[str, Any]:
    """Return the inputs of the ONNX file of a model for some graphs, by name."""
    encoder = estimator.encoder_
    batch = graphs.batch(slice(0, len(graphs)))
    tables = {
        "labels": graphs.labels,
        "attributes": graphs.attributes,
        "structure": structural_features(graphs, encoder.settings.structure),
        "ones": torch.ones(graphs.num_nodes, 1),
    }
    if estimator.encoder_.hashed_labels:
        raise DataError(
            "has node labels of so many values that they are hashed, which an ONNX file cannot "
            "do; fit a model with attributes instead of these labels",
            source="model",
        )
    model = OnnxModel(estimator.network_, encoder, estimator.decoder_)
    given = {name: tables[name].numpy() for name, _, _ in model.inputs}
    return {**given, "ptr": batch.ptr.numpy(), "edge_index": batch.edge_index.numpy()}


def check_onnx(
    estimator: LFDSClassifier | LFDSRegressor, path: str | PathLike[str], graphs: GraphSet
) -> float:
    """Run a file with onnxruntime; return the largest difference from the model's predictions."""
    try:
        from onnxruntime import InferenceSession
    except ImportError as error:
        raise DataError(_MISSING) from error
    session = InferenceSession(path)
    is_classifier = isinstance(estimator, LFDSClassifier)
    expected = (estimator.predict_proba if is_classifier else estimator.predict)(graphs)
    largest = 0.0
    for rows in runs_of_nodes(graphs.ptr, _NODES_OF_A_BATCH):
        (found,) = session.run(None, onnx_inputs(estimator, graphs[rows]))
        wanted = expected[rows].reshape(found.shape)
        largest = max(largest, float(np.abs(found - wanted).max()))
    return largest


class EdgePairs(NamedTuple):
    """Edges as in PyG's ``edge_index``, aggregated by a basic operation."""

    source: Tensor
    target: Tensor

    def add_neighbours(self, own: Tensor, sent: Tensor) -> Tensor:
        """Add to each node what its neighbours send."""
        messages = sent[self.source]
        return own.scatter_add(0, self.target[:, None].expand_as(messages), messages)


@final
class OnnxModel(nn.Module):
    """A fitted model in basic operations, which every runtime supports.

    Args:
        network: Its weights are shared.
        encoder: The encoder it was fitted with.
        decoder: Turns its outputs into probabilities or values.

    Attributes:
        inputs: Name, width and dtype of each input table of nodes.
        classes: Names of the classes; empty for regression.
        targets: Names of several targets with two classes; empty for others.
    """

    shift: Tensor
    scale: Tensor

    def __init__(self, network: GraphNetwork, encoder: Encoder, decoder: Decoder) -> None:
        super().__init__()
        self.network = network
        self.label_values = encoder.label_values
        means, scales = encoder.attribute_scales
        self.shift = nn.Buffer(torch.tensor(means, dtype=torch.float64))
        self.scale = nn.Buffer(torch.tensor(scales, dtype=torch.float64))
        structure = network.in_channels - sum(map(len, self.label_values)) - len(means)
        tables = (
            ("labels", len(self.label_values), torch.int64),
            ("attributes", len(means), torch.float32),
            ("ones" if encoder.names == ("one",) else "structure", structure, torch.float32),
        )
        self.inputs = [table for table in tables if table[1]]
        self.classes = [] if isinstance(decoder, ValueDecoder) else list(decoder.names)
        self.targets = list(decoder.targets) if isinstance(decoder, MultiLabelDecoder) else []
        self.decoder = decoder

    def forward(self, tables: list[Tensor], ptr: Tensor, edge_index: Tensor) -> Tensor:
        named = zip(self.inputs, tables, strict=True)
        x = torch.cat([self._encode(name, table) for (name, _, _), table in named], dim=1)
        everything, last = self.network.base(x, EdgePairs(edge_index[0], edge_index[1]))
        vectors = self.network.pooled(everything, last, ptr, None)  # a structure uses no edges
        return self._decode(self.network.head(vectors))

    def _encode(self, name: str, table: Tensor) -> Tensor:
        if name == "attributes":
            return ((table.double() - self.shift) / self.scale).float()
        if name != "labels":
            return table
        values = enumerate(self.label_values)
        columns = [table[:, column, None] == torch.tensor(seen) for column, seen in values]
        return torch.cat(columns, dim=1).float()

    def _decode(self, outputs: Tensor) -> Tensor:
        if isinstance(self.decoder, ClassDecoder):
            return (outputs / self.decoder.temperature).softmax(dim=1)
        if isinstance(self.decoder, MultiLabelDecoder):
            return (outputs / torch.tensor(self.decoder.temperatures)).sigmoid()
        # Single precision would lose a small spread about a large mean.
        means = torch.tensor(self.decoder.means, dtype=torch.float64)
        scales = torch.tensor(self.decoder.scales, dtype=torch.float64)
        return outputs.double() * scales + means
