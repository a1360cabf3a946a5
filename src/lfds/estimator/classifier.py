"""A classifier of graphs with the interface of scikit-learn."""

from collections.abc import Mapping, Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.estimator.base import DEFAULTS, Encoding, GraphEstimator
from lfds.estimator.fitting import FitResult
from lfds.estimator.input_conversion import Graphs
from lfds.estimator.options import document_options
from lfds.estimator.output_decoding import ClassDecoder, fit_temperature
from lfds.estimator.targets import (
    Labels,
    check_several_classes,
    class_indices,
    class_labels,
    class_weights,
    sorted_classes,
    warn_of_many_classes,
)
from lfds.train.objective import Classify, Objective


@final
@document_options
class LFDSClassifier(ClassifierMixin, GraphEstimator[ClassDecoder]):
    """Classify graphs.

    Graphs are a :class:`lfds.GraphSet`, or a list of PyG's ``Data``, of NetworkX graphs, of SMILES,
    or of arrays ``[n, d]`` (sets of n points, no edges).

    Attributes:
        classes_: The labels as the user spelt them, sorted.
        temperature_: Outputs are divided by it before the softmax.
        network_: The fitted :class:`lfds.nn.GraphNetwork`.
        encoder_: Computes its node features.
        history_: Losses and accuracies of each epoch; ``history_.best`` is the epoch that was kept.

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
        slots: int = DEFAULTS.slots,
        reduction: str = DEFAULTS.reduction,
        encoding: Encoding = DEFAULTS.encoding,
        epochs: int = DEFAULTS.epochs,
        batch_size: int = DEFAULTS.batch_size,
        learning_rate: float = DEFAULTS.learning_rate,
        class_weight: str | Mapping[Any, float] | None = None,
        validation: float = DEFAULTS.validation,
        patience: int | None = DEFAULTS.patience,
        options: Mapping[str, Any] | None = DEFAULTS.options,
        node_attributes: Sequence[str] = (),
        node_label: str | None = DEFAULTS.node_label,
        seed: int = DEFAULTS.seed,
        warm_start: bool = DEFAULTS.warm_start,
        workers: int = DEFAULTS.workers,
        progress: bool = DEFAULTS.progress,
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
        decoder = None
        if classes is not None:
            names = sorted_classes(classes)
            if hasattr(self, "network_") and names.tolist() != self.classes_.tolist():
                raise DataError("differ from those of the first call", source="classes")
            decoder = ClassDecoder(names=tuple(names.tolist()))
        return self._partial_fit(graphs, y, decoder)

    @property
    def classes_(self) -> Labels:
        check_is_fitted(self, "network_")
        return self.decoder_.labels

    @property
    def temperature_(self) -> float:
        check_is_fitted(self, "network_")
        return self.decoder_.temperature

    def predict_proba(self, graphs: Graphs) -> NDArray[np.float64]:
        """Return the probability of every class, ``[graphs, classes]``, in their order."""
        outputs = self.outputs(graphs)
        return self.decoder_.probabilities(outputs)

    def predict(self, graphs: Graphs) -> Labels:
        """Return the most probable class of every graph."""
        best = self.outputs(graphs).argmax(axis=1)
        labels: Labels = self.classes_[best]
        return labels

    def score(self, graphs: Graphs, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy; ``y`` is by default the labels that the graphs carry."""
        data = self._read(graphs, targets=y is None)
        expected = class_indices(class_labels(y, data), self.classes_).numpy()
        predicted = self.outputs(data).argmax(axis=1)
        return float(accuracy_score(expected, predicted, sample_weight=sample_weight))

    def _prepare(
        self, graphs: GraphSet, y: Any, decoder: ClassDecoder | None
    ) -> tuple[Tensor, ClassDecoder, Objective]:
        labels = class_labels(y, graphs)
        if decoder is None:
            check_several_classes(labels)
            warn_of_many_classes(labels)
            decoder = ClassDecoder(names=tuple(np.unique(labels).tolist()))
        indices = class_indices(labels, decoder.labels)
        weights = class_weights(self._options().weights, decoder.labels, indices)
        return indices, decoder, Classify(weights)

    def _strata(self, targets: Tensor) -> NDArray[np.integer]:
        return targets.numpy()

    def _calibrate(self, decoder: ClassDecoder, fitted: FitResult, targets: Tensor) -> ClassDecoder:
        labels = targets.numpy()[fitted.validation]
        found = fit_temperature(fitted.outputs.numpy(), labels)
        return ClassDecoder(names=decoder.names, temperature=found)
