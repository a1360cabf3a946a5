"""A classifier of graphs with the interface of scikit-learn."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, final, overload

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from lfds.config.messages import counted
from lfds.data.errors import DataError
from lfds.data.graphset import MISSING_CLASS, GraphSet
from lfds.estimator.base import DEFAULTS, Encoding, GraphEstimator
from lfds.estimator.input_conversion import Graphs
from lfds.estimator.members import FitResult
from lfds.estimator.options import document_options
from lfds.estimator.output_decoding import ClassDecoder, MultiLabelDecoder, fit_temperature
from lfds.estimator.target_matching import as_in_model, target_places
from lfds.estimator.targets import (
    Labels,
    check_both_classes,
    check_number_of_targets,
    check_several_classes,
    class_indices,
    class_labels,
    class_weights,
    given_names,
    has_several_targets,
    in_order_of,
    multi_label_weights,
    multi_labels,
    sorted_classes,
    target_names,
    warn_of_many_classes,
)
from lfds.nn.models.ensemble import average_outputs
from lfds.train.objective import Classify, ClassifyEach, Objective

_Decoder = ClassDecoder | MultiLabelDecoder


@final
@document_options
class LFDSClassifier(ClassifierMixin, GraphEstimator[_Decoder]):
    """Classify graphs.

    With ``y`` of shape ``[graphs, targets]`` there are several targets with the same two classes;
    entries may be missing (NaN). Then predictions have that shape, and so do probabilities, which
    are those of the second class.

    Graphs are a :class:`lfds.GraphSet`, or a list of PyG's ``Data``, of NetworkX graphs, of SMILES,
    of arrays ``[n, d]`` (sets of n points, no edges), or of pairs ``(X, adjacency)``.

    Attributes:
        classes_: The labels as the user spelt them, sorted.
        temperature_: Outputs are divided by it before the softmax; one for each of several targets.
        network_: The fitted :class:`lfds.nn.GraphNetwork`; of several members the first.
        networks_: All members.
        encoder_: Computes the node features.
        history_: Losses and accuracies of each epoch; ``history_.best`` is the epoch that was kept.
        histories_: Those of all members.
        validation_score_: Of the last fit, on the validation graphs; it is not saved.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> sets = [rng.normal(size=(20, 2)) * (1, 1 + 9 * (k % 2)) for k in range(40)]
    >>> labels = ["round", "long"] * 20
    >>> clf = LFDSClassifier(epochs=30, options={"width": 16}).fit(sets, labels)
    >>> clf.predict(sets[:4])
    array(['round', 'long', 'round', 'long'], dtype='<U5')
    """

    def __init__(
        self,
        structure: str | Sequence[str] = DEFAULTS.structure,
        *,
        base: str = DEFAULTS.base,
        slots: int = DEFAULTS.slots,
        reduction: str = DEFAULTS.reduction,
        encoding: Encoding = DEFAULTS.encoding,
        epochs: int = DEFAULTS.epochs,
        batch_size: int = DEFAULTS.batch_size,
        learning_rate: float = DEFAULTS.learning_rate,
        class_weight: str | Mapping[Any, float] | None = None,
        validation: float = DEFAULTS.validation,
        patience: int | None = DEFAULTS.patience,
        keep: str = DEFAULTS.keep,
        options: Mapping[str, Any] | None = DEFAULTS.options,
        node_attributes: Sequence[str] = (),
        node_label: str | None = DEFAULTS.node_label,
        edge_attributes: Sequence[str] = (),
        edge_label: str | None = DEFAULTS.edge_label,
        members: int = DEFAULTS.members,
        seed: int = DEFAULTS.seed,
        device: str = DEFAULTS.device,
        precision: str = DEFAULTS.precision,
        warm_start: bool = DEFAULTS.warm_start,
        workers: int = DEFAULTS.workers,
        ray: str | None = DEFAULTS.ray,
        sync_batch_norm: str = DEFAULTS.sync_batch_norm,
        progress: bool = DEFAULTS.progress,
        verbose: bool | int = DEFAULTS.verbose,
    ) -> None:
        self._store(locals())

    def partial_fit(self, graphs: Graphs, y: Any = None, classes: Any = None) -> Self:
        """Train one epoch on some graphs, continuing from earlier calls.

        The node features are fixed by the first call. No graphs are held out, so that
        probabilities are calibrated only if :meth:`fit` came first. The state of the optimizer is
        not saved: after :func:`lfds.load` it starts anew.

        Args:
            graphs: Some of the graphs.
            y: One label per graph; by default those that the graphs carry.
            classes: All labels of all calls; required in the first call unless its graphs have
                all of them.
        """
        if classes is None:
            return self._partial_fit(graphs, y, None)
        names = sorted_classes(classes)
        if hasattr(self, "network_"):
            if names.tolist() != self.classes_.tolist():
                raise DataError("differ from those of the first call", source="classes")
            return self._partial_fit(graphs, y, None)
        data = self._read(graphs, targets=y is None)
        return self._partial_fit(data, y, _first_decoder(names, data, y))

    @property
    def classes_(self) -> Labels:
        check_is_fitted(self, "network_")
        return self.decoder_.labels

    @property
    def temperature_(self) -> float | NDArray[np.float64]:
        check_is_fitted(self, "network_")
        decoder = self.decoder_
        if isinstance(decoder, ClassDecoder):
            return decoder.temperature
        return np.array(decoder.temperatures)

    @overload
    def predict_proba(
        self, graphs: Graphs, return_std: Literal[False] = False
    ) -> NDArray[np.float64]: ...

    @overload
    def predict_proba(
        self, graphs: Graphs, return_std: Literal[True]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

    def predict_proba(
        self, graphs: Graphs, return_std: bool = False
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the probability of every class, ``[graphs, classes]``, in their order.

        With several targets it is that of the second class of each, ``[graphs, targets]``. Those of
        several members are averaged.

        Args:
            graphs: What ``fit`` takes.
            return_std: Whether to return also the standard deviation of the probabilities over the
                members, in the same shape.
        """
        if return_std:
            outputs, spread = self._std(graphs)
            return self.decoder_.probabilities(outputs), spread
        outputs = self.outputs(graphs)  # raises if there was no fit
        return self.decoder_.probabilities(outputs)

    def predict_log_proba(self, graphs: Graphs) -> NDArray[np.float64]:
        """Return the logarithm of :meth:`predict_proba`, exact for small probabilities too."""
        logits = self._decision_values(graphs)
        if isinstance(self.decoder_, ClassDecoder):
            found: NDArray[np.float64] = log_softmax(logits, axis=1)
            return found
        return -np.logaddexp(0.0, -logits)

    def decision_function(self, graphs: Graphs) -> NDArray[np.float64]:
        """Return the log-odds that predictions are made by, as scikit-learn shapes them.

        ``[graphs]`` of the second of two classes, ``[graphs, classes]`` up to a constant for each
        graph, or ``[graphs, targets]`` of several targets.
        """
        logits = self._decision_values(graphs)
        if isinstance(self.decoder_, ClassDecoder) and logits.shape[1] == 2:
            difference: NDArray[np.float64] = logits[:, 1] - logits[:, 0]
            return difference
        return logits

    def _decision_values(self, graphs: Graphs) -> NDArray[np.float64]:
        """Return the calibrated outputs, of which probabilities are the softmax or sigmoid."""
        outputs = self.outputs(graphs)  # raises if there was no fit
        return outputs.astype(np.float64) / self.temperature_

    def predict(self, graphs: Graphs) -> Labels:
        """Return the most probable class of every graph, or of every target of every graph."""
        labels: Labels = self.classes_[self._indices(self.outputs(graphs))]
        return labels

    def score(self, graphs: Graphs, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy; ``y`` is by default the labels that the graphs carry.

        With several targets it is the fraction of known ones that are predicted. Those with the
        names that were fitted are matched by name, in any order.
        """
        from sklearn.metrics import accuracy_score

        data = self._read(graphs, targets=y is None)
        predicted = self._indices(self.outputs(data))
        if isinstance(self.decoder_, ClassDecoder):
            expected = class_indices(class_labels(y, data), self.classes_).numpy()
            return float(accuracy_score(expected, predicted, sample_weight=sample_weight))
        table = self._multi_labels(data, y, self.decoder_)
        known = table >= 0
        weights = np.ones(len(table)) if sample_weight is None else np.asarray(sample_weight)
        return float(np.average((predicted == table)[known], weights=weights[known.nonzero()[0]]))

    def label_indices(self, graphs: Graphs, y: Any = None) -> NDArray[np.int64]:
        """Return the class of each of several targets as an index into ``classes_``; -1 if missing.

        Args:
            graphs: The graphs.
            y: ``[graphs, targets]``; by default what the graphs carry, which may be some of the
                targets of the model, by their names.
        """
        decoder = self.decoder_
        assert isinstance(decoder, MultiLabelDecoder)
        data = self._read(graphs, targets=y is None)
        names = given_names(y, data)
        if y is not None or len(names) == decoder.outputs or not names:
            return self._multi_labels(data, y, decoder)
        places = target_places(decoder.targets, names, some=True)
        table, classes = multi_labels(y, data)
        known = self._classes_of(table.reshape(len(data), -1), classes, decoder)
        return as_in_model(known, places, MISSING_CLASS)

    def _indices(self, outputs: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the index of the most probable class."""
        if isinstance(self.decoder_, ClassDecoder):
            best: NDArray[np.int64] = outputs.argmax(axis=1)
            return best
        return (outputs > 0).astype(np.int64)

    def _prepare(
        self, graphs: GraphSet, y: Any, decoder: _Decoder | None
    ) -> tuple[Tensor, _Decoder, Objective]:
        several = has_several_targets(y, graphs)
        if decoder is not None and several != isinstance(decoder, MultiLabelDecoder):
            what = counted(1 if several else decoder.outputs, "target")
            raise DataError(
                f"the model has {what}, and y has {'several' if several else 'one'} for each graph",
                source="y",
            )
        if several:
            assert decoder is None or isinstance(decoder, MultiLabelDecoder)
            return self._prepare_several(graphs, y, decoder)
        assert decoder is None or isinstance(decoder, ClassDecoder)
        return self._prepare_one(graphs, y, decoder)

    def _prepare_several(
        self, graphs: GraphSet, y: Any, decoder: MultiLabelDecoder | None
    ) -> tuple[Tensor, _Decoder, Objective]:
        if decoder is None:
            table, classes = multi_labels(y, graphs)
            check_several_classes(classes)
            names = target_names(y, graphs, table.shape[1])
            check_both_classes(table, names)
            decoder = MultiLabelDecoder(
                names=tuple(classes.tolist()), targets=names, temperatures=(1.0,) * len(names)
            )
        else:
            table = self._multi_labels(graphs, y, decoder)
        weights = multi_label_weights(self._options().weights, decoder.labels, table)
        known = float((table >= 0).sum() / len(table))
        return torch.from_numpy(table), decoder, ClassifyEach(max(known, 1e-9), weights)

    def _multi_labels(
        self, graphs: GraphSet, y: Any, decoder: MultiLabelDecoder
    ) -> NDArray[np.int64]:
        """Return the index of the class of each target, in the classes of the model."""
        table, classes = multi_labels(y, graphs)
        check_number_of_targets(table, decoder.outputs)
        ordered = in_order_of(decoder.targets, table, y, graphs)
        return self._classes_of(ordered, classes, decoder)

    def _classes_of(
        self, table: NDArray[np.int64], classes: Labels, decoder: MultiLabelDecoder
    ) -> NDArray[np.int64]:
        """Return indices into the classes of the model for those into other ones."""
        places = class_indices(classes, decoder.labels).numpy()
        return np.where(table >= 0, places[table], table)

    def _prepare_one(
        self, graphs: GraphSet, y: Any, decoder: ClassDecoder | None
    ) -> tuple[Tensor, _Decoder, Objective]:
        labels = class_labels(y, graphs)
        if decoder is None:
            check_several_classes(labels)
            warn_of_many_classes(labels)
            decoder = ClassDecoder(names=tuple(np.unique(labels).tolist()))
        indices = class_indices(labels, decoder.labels)
        weights = class_weights(self._options().weights, decoder.labels, indices)
        return indices, decoder, Classify(weights)

    def _strata(self, targets: Tensor) -> NDArray[np.integer]:
        # Several targets would need a stratum for each combination of classes.
        return targets.numpy() if targets.ndim == 1 else np.zeros(len(targets), dtype=np.int64)

    def _calibrate(self, decoder: _Decoder, fitted: FitResult, targets: Tensor) -> _Decoder:
        # Of the averaged probabilities: single members are surer than all together.
        outputs = average_outputs(fitted.outputs, decoder.kind).numpy()
        labels = targets.numpy()[fitted.validation]
        if isinstance(decoder, ClassDecoder):
            found = fit_temperature(outputs, labels)
            return ClassDecoder(names=decoder.names, temperature=found)
        # The logits of two classes are 0 and z.
        pairs = np.stack([np.zeros_like(outputs), outputs], axis=2)
        known = labels >= 0
        each = [
            fit_temperature(pairs[known[:, place], place], labels[known[:, place], place])
            for place in range(decoder.outputs)
        ]
        return decoder.model_copy(update={"temperatures": tuple(each)})


def _first_decoder(classes: Labels, graphs: GraphSet, y: Any) -> _Decoder:
    """Return the decoder of a model with these classes, for the targets of its first graphs."""
    names = tuple(classes.tolist())
    if not has_several_targets(y, graphs):
        return ClassDecoder(names=names)
    if len(names) != 2:
        raise DataError(
            f"several targets need the same two labels, not {len(names)}: {list(names)}",
            source="classes",
        )
    count = graphs.y.shape[1] if y is None else multi_labels(y, graphs)[0].shape[1]
    targets = target_names(y, graphs, count)
    return MultiLabelDecoder(names=names, targets=targets, temperatures=(1.0,) * count)
