"""A classifier of graphs in scikit-learn's ways."""

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
from lfds.estimator.base import NETWORK, PATIENCE, TRAINING, VALIDATION, GraphEstimator
from lfds.estimator.calibration import probabilities, temperature
from lfds.estimator.class_weights import class_weights
from lfds.estimator.input_conversion import Graphs
from lfds.estimator.learning import Learned
from lfds.estimator.output_decoding import AmountMeaning, ClassMeaning
from lfds.estimator.settings import Encoding
from lfds.estimator.targets import (
    Labels,
    announced,
    class_labels,
    need_several,
    positions,
    tell_of_amounts,
)
from lfds.train.objective import Classify, Objective


@final
class LFDSClassifier(ClassifierMixin, GraphEstimator):
    """Tell classes of graphs apart.

    Graphs are a :class:`lfds.GraphSet`, or a list of PyG's ``Data``, of NetworkX graphs, or of
    arrays ``[n, d]`` (sets of n points, no edges). A part of them is set apart to choose the best
    epoch on and to calibrate the probabilities.

    Args:
        structure: Name of a latent structure, a key of ``lfds.STRUCTURES``; or several, whose
            outputs stand side by side.
        slots: Slots of each structure.
        reduction: How a slot takes up what it is given: ``"sum"``, ``"mean"`` or ``"mass"``.
        encoding: What nodes are known by: ``"auto"`` (labels and attributes; return probabilities
            of random walks where there are neither), the name of a structural encoding to stand
            beside labels and attributes (``"rwse"``, ``"degree"``, ``"none"``, ...), several of
            them, or :class:`lfds.data.EncodingSettings`.
        epochs: Passes over the graphs, at most.
        batch_size: Graphs of a training step.
        learning_rate: Of the first epoch; it falls from there.
        class_weight: ``None``; ``"balanced"`` to let all classes count the same; or how often a
            graph of each label counts.
        validation: Share of the graphs to be set apart; 0 for none, then the last epoch counts.
        patience: Stop after so many epochs without a gain on the part set apart; ``None``: never.
        options: What is to be otherwise in the network, by the names of
            :class:`lfds.nn.NetworkSettings`.
        node_attributes: Names of node data of NetworkX graphs that are numbers.
        node_label: Name of node data of NetworkX graphs that is a kind, as a whole number.
        seed: Root of all random streams: the same seed, graphs and number of threads give the
            same model.
        warm_start: Whether ``fit`` goes on from the weights it finds.
        workers: Processes that compute structural encodings.
        progress: Whether to show bars on standard error.

    Attributes:
        classes_: The user's own labels, rising.
        temperature_: What outputs are divided by before they become probabilities.
        network_: The fitted :class:`lfds.nn.GraphNetwork`.
        encoder_: Makes its features.
        history_: Losses and accuracies of each epoch; ``history_.best`` is the one that was kept.

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
        structure: str | Sequence[str] = NETWORK.pool,
        *,
        slots: int = NETWORK.slots,
        reduction: str = NETWORK.reduction,
        encoding: Encoding = "auto",
        epochs: int = TRAINING.epochs,
        batch_size: int = TRAINING.batch_size,
        learning_rate: float = TRAINING.learning_rate,
        class_weight: str | Mapping[Any, float] | None = None,
        validation: float = VALIDATION,
        patience: int | None = PATIENCE,
        options: Mapping[str, Any] | None = None,
        node_attributes: Sequence[str] = (),
        node_label: str | None = None,
        seed: int = 0,
        warm_start: bool = False,
        workers: int = 1,
        progress: bool = False,
    ) -> None:
        super().__init__(
            structure,
            slots=slots,
            reduction=reduction,
            encoding=encoding,
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            validation=validation,
            patience=patience,
            options=options,
            node_attributes=node_attributes,
            node_label=node_label,
            seed=seed,
            warm_start=warm_start,
            workers=workers,
            progress=progress,
        )
        self.class_weight = class_weight

    def partial_fit(self, graphs: Graphs, y: Any = None, classes: Any = None) -> Self:
        """Learn from a piece of the data, in one pass, after all that was learned before.

        What nodes are known by is decided by the first piece. Nothing is set apart, so that
        probabilities are calibrated only where :meth:`fit` came first. A model that was loaded
        begins with fresh moments of the optimiser: they are not saved.

        Args:
            graphs: The piece.
            y: One label per graph; left out, those that the graphs carry.
            classes: All labels there will ever be; needed in the first call, unless all of them
                are in the first piece.
        """
        meaning = None
        if classes is not None:
            names = announced(classes)
            if hasattr(self, "network_") and names.tolist() != self.classes_.tolist():
                raise DataError("other classes than in the first call", source="classes")
            meaning = ClassMeaning(names=tuple(names.tolist()))
        return self._more(graphs, y, meaning)

    @property
    def classes_(self) -> Labels:
        check_is_fitted(self, "network_")
        return self._meaning().labels

    @property
    def temperature_(self) -> float:
        check_is_fitted(self, "network_")
        return self._meaning().temperature

    def predict_proba(self, graphs: Graphs) -> NDArray[np.float64]:
        """Return the probability of every class, ``[graphs, classes]``, in their order."""
        return probabilities(self.outputs(graphs), self.temperature_)

    def predict(self, graphs: Graphs) -> Labels:
        """Return the likeliest class of every graph."""
        likeliest: Labels = self.classes_[self.outputs(graphs).argmax(axis=1)]
        return likeliest

    def score(self, graphs: Graphs, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy; ``y`` left out takes the labels that the graphs carry."""
        known = self._read(graphs, targets=y is None)
        places = positions(class_labels(y, known), self.classes_).numpy()
        found = self.outputs(known).argmax(axis=1)
        return float(accuracy_score(places, found, sample_weight=sample_weight))

    def _goal(
        self, graphs: GraphSet, y: Any, known: ClassMeaning | AmountMeaning | None
    ) -> tuple[Tensor, ClassMeaning, Objective]:
        labels = class_labels(y, graphs)
        if known is None:
            need_several(labels)
            tell_of_amounts(labels)
            known = ClassMeaning(names=tuple(np.unique(labels).tolist()))
        assert isinstance(known, ClassMeaning)
        places = positions(labels, known.labels)
        weights = class_weights(self._options().weights, known.labels, places)
        return places, known, Classify(weights)

    def _kinds(self, targets: Tensor) -> NDArray[np.integer]:
        return targets.numpy()

    def _calibrated(
        self, meaning: ClassMeaning | AmountMeaning, learned: Learned, targets: Tensor
    ) -> ClassMeaning:
        assert isinstance(meaning, ClassMeaning)
        found = temperature(learned.outputs.numpy(), targets.numpy()[learned.watched])
        return ClassMeaning(names=meaning.names, temperature=found)

    def _meaning(self) -> ClassMeaning:
        assert isinstance(self.meaning_, ClassMeaning)
        return self.meaning_
