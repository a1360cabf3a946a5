"""Export of a whole model as an ONNX file, from node labels and attributes to probabilities.

The inputs are ``labels`` and ``attributes`` of the nodes as a GraphSet has them, ``structure``
(structural encodings, computed beforehand), ``edge_labels`` and ``edge_attributes``, each if the
model uses it, then ``ptr`` and ``edge_index``. The output is ``probabilities`` of classes, or of
the second class of each of several targets, or ``values`` in double precision.
Predictions of several members are averaged in the file.
"""

import json
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
import torch
from torch import Tensor, nn

from lfds.config.registry import BASES
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
from lfds.nn.models.ensemble import average_outputs
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
    _check_not_hashed(estimator.encoder_)
    base = estimator.network_.settings.base
    if not BASES[base].exports:
        able = ", ".join(name for name, entry in BASES.items() if entry.exports)
        raise DataError(
            f"has the base {base!r}, which an ONNX file cannot hold; fit one with the base {able}",
            source="model",
        )
    model = OnnxModel(estimator.networks_, estimator.encoder_, estimator.decoder_).eval()
    tables = [_example(table) for table in model.inputs]
    example = (tables, torch.tensor([0, 2, 4]), torch.tensor([[0, 1, 2], [1, 0, 3]]))
    nodes = torch.export.Dim("nodes", min=2, max=_LARGEST_SIZE)
    edges = torch.export.Dim("edges", min=2, max=_LARGEST_SIZE)
    # torch specializes sizes of 0 and 1; the file itself takes a single graph as well.
    shapes = (
        [{0: edges if _is_of_edges(name) else nodes} for name, _, _ in model.inputs],
        {0: torch.export.Dim("boundaries", min=3, max=_LARGEST_SIZE)},
        {1: edges},
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
        "edge_labels": graphs.edge_labels,
        "edge_attributes": graphs.edge_attributes,
    }
    _check_not_hashed(encoder)
    model = OnnxModel(estimator.networks_, encoder, estimator.decoder_)
    given = {name: _of_width(tables[name], width).numpy() for name, width, _ in model.inputs}
    return {**given, "ptr": batch.ptr.numpy(), "edge_index": batch.edge_index.numpy()}


def _check_not_hashed(encoder: Encoder) -> None:
    edges = encoder.edge_columns
    for owner, hashed in (
        ("node", encoder.hashed_labels),
        ("edge", () if edges is None else edges.labels.hashed),
    ):
        if hashed:
            raise DataError(
                f"has {owner} labels of so many values that they are hashed, which an ONNX file "
                "cannot do; fit a model with attributes instead of these labels",
                source="model",
            )


def _is_of_edges(name: str) -> bool:
    return name in ("edge_labels", "edge_attributes")


def _example(table: "Table") -> Tensor:
    """Return an input table of four nodes or three edges."""
    name, width, dtype = table
    return torch.zeros(3 if _is_of_edges(name) else 4, width, dtype=dtype)


def _of_width(table: Tensor, width: int) -> Tensor:
    """Return a table; graphs without edges may have any number of columns for them."""
    return table if len(table) else table.new_empty(0, width)


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
    features: Tensor | None = None
    weight: Tensor | None = None

    @property
    def pairs(self) -> Tensor:
        """Sources above targets."""
        return torch.stack([self.source, self.target])

    def add_neighbours(self, own: Tensor, sent: Tensor) -> Tensor:
        """Add to each node what its neighbours send."""
        return self.add_messages(own, self.take_sources(sent))

    def take_sources(self, sent: Tensor) -> Tensor:
        """Return for each edge the row of the node that it comes from."""
        return sent[self.source]

    def add_messages(self, own: Tensor, messages: Tensor) -> Tensor:
        """Add to each node the messages of the edges that go to it."""
        return own.scatter_add(0, self.target[:, None].expand_as(messages), messages)


Table = tuple[str, int, torch.dtype]


@final
class OnnxModel(nn.Module):
    """A fitted model in basic operations, which every runtime supports.

    Args:
        networks: The members, whose predictions are averaged; their weights are shared.
        encoder: The encoder they were fitted with.
        decoder: Turns their outputs into probabilities or values.

    Attributes:
        inputs: Name, width and dtype of each input table of nodes or edges.
        classes: Names of the classes; empty for regression.
        targets: Names of several targets with two classes; empty for others.
    """

    shift: Tensor
    scale: Tensor
    edge_shift: Tensor
    edge_scale: Tensor

    def __init__(
        self, networks: Sequence[GraphNetwork], encoder: Encoder, decoder: Decoder
    ) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)
        self.label_values = encoder.label_values
        means, scales = encoder.attribute_scales
        self.shift = nn.Buffer(torch.tensor(means, dtype=torch.float64))
        self.scale = nn.Buffer(torch.tensor(scales, dtype=torch.float64))
        edges = encoder.edge_columns
        self.edge_label_values = () if edges is None else edges.labels.values
        edge_means, edge_scales = (
            ((), ()) if edges is None else (edges.attributes.means, edges.attributes.scales)
        )
        self.edge_shift = nn.Buffer(torch.tensor(edge_means, dtype=torch.float64))
        self.edge_scale = nn.Buffer(torch.tensor(edge_scales, dtype=torch.float64))
        structure = networks[0].in_channels - sum(map(len, self.label_values)) - len(means)
        tables: tuple[Table, ...] = (
            ("labels", len(self.label_values), torch.int64),
            ("attributes", len(means), torch.float32),
            ("ones" if encoder.names == ("one",) else "structure", structure, torch.float32),
            ("edge_labels", len(self.edge_label_values), torch.int64),
            ("edge_attributes", len(edge_means), torch.float32),
        )
        self.inputs = [table for table in tables if table[1]]
        self.classes = [] if isinstance(decoder, ValueDecoder) else list(decoder.names)
        self.targets = list(decoder.targets) if isinstance(decoder, MultiLabelDecoder) else []
        self.decoder = decoder

    def forward(self, tables: list[Tensor], ptr: Tensor, edge_index: Tensor) -> Tensor:
        named = zip(self.inputs, tables, strict=True)
        encoded = {name: self._encode(name, table) for (name, _, _), table in named}
        x = torch.cat([part for name, part in encoded.items() if not _is_of_edges(name)], dim=1)
        along = [part for name, part in encoded.items() if _is_of_edges(name)]
        features = torch.cat(along, dim=1) if along else None
        edges = EdgePairs(edge_index[0], edge_index[1], features)
        outputs = [_outputs(network, x, ptr, edges) for network in self.networks]
        return self._decode(average_outputs(torch.stack(outputs), self.decoder.kind))

    def _encode(self, name: str, table: Tensor) -> Tensor:
        if name == "attributes":
            return ((table.double() - self.shift) / self.scale).float()
        if name == "edge_attributes":
            return ((table.double() - self.edge_shift) / self.edge_scale).float()
        if not name.endswith("labels"):
            return table
        values = enumerate(self.label_values if name == "labels" else self.edge_label_values)
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


def _outputs(network: nn.Module, x: Tensor, ptr: Tensor, edges: EdgePairs) -> Tensor:
    assert isinstance(network, GraphNetwork)
    everything, last = network.base(x, edges, ptr)
    vectors = network.pooled(everything, last, ptr, None)  # a structure uses no edges
    outputs: Tensor = network.head(vectors)
    return outputs
