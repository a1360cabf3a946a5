"""A regressor of graphs in scikit-learn's ways."""

from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from torch import Tensor

from lfds.config.training import TrainingSettings
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.estimator.base import GraphEstimator
from lfds.estimator.input_conversion import Graphs
from lfds.estimator.output_decoding import AmountMeaning, ClassMeaning
from lfds.estimator.regression_targets import amounts
from lfds.estimator.settings import network_settings, training_settings
from lfds.nn import NetworkSettings
from lfds.train.objective import Objective, Regress


@final
class LFDSRegressor(RegressorMixin, GraphEstimator):
    """Tell quantities of graphs, one or several at once.

    Targets are standardised for the training, whose loss is the squared error, and given back in
    their own units. Options and attributes are those of :class:`lfds.LFDSClassifier`, except for
    ``class_weight``, ``classes_`` and ``temperature_``; the head of the network drops nothing,
    unless ``options`` say so, because a squared error feels every value that is missing.

    >>> import numpy as np
    >>> sets = [np.random.default_rng(k).normal(size=(20, 2)) for k in range(40)]
    >>> spread = [points.std() for points in sets]
    >>> reg = LFDSRegressor(epochs=5, options={"width": 16}).fit(sets, spread)
    >>> reg.predict(sets[:3]).shape
    (3,)
    """

    def partial_fit(self, graphs: Graphs, y: Any = None) -> Self:
        """Learn from a piece of the data, in one pass, after all that was learned before.

        What nodes are known by, and the scale of the targets, is decided by the first piece. A
        model that was loaded begins with fresh moments of the optimiser: they are not saved.

        Args:
            graphs: The piece.
            y: Targets; left out, those that the graphs carry.
        """
        return self._more(graphs, y, None)

    def predict(self, graphs: Graphs) -> NDArray[np.float64]:
        """Return the quantities of every graph, in the shape the targets had."""
        outputs = self.outputs(graphs)
        assert isinstance(self.meaning_, AmountMeaning)
        return self.meaning_.in_units(outputs)

    def score(self, graphs: Graphs, y: Any = None, sample_weight: Any = None) -> float:
        """Return the coefficient of determination R2."""
        known = self._read(graphs, targets=y is None)
        found = self.predict(known)
        return float(r2_score(amounts(y, known), found, sample_weight=sample_weight))

    def _goal(
        self, graphs: GraphSet, y: Any, known: ClassMeaning | AmountMeaning | None
    ) -> tuple[Tensor, AmountMeaning, Objective]:
        values = amounts(y, graphs)
        meaning = AmountMeaning.learned(values) if known is None else known
        assert isinstance(meaning, AmountMeaning)
        wanted = meaning.outputs, meaning.single
        found = values.reshape(len(values), -1).shape[1], values.ndim == 1
        if wanted != found:
            raise DataError(
                f"has {found[0]} targets for each graph, and the model {wanted[0]}", source="y"
            )
        return meaning.standardised(values), meaning, Regress()

    def _network(self) -> NetworkSettings:
        return network_settings(self._options(), {"head_dropout": 0.0})

    def _training(self) -> TrainingSettings:
        # A channel that hardly ever responds may be measured as one that never does. Where it
        # responds after all it is blown up: a class may survive that, a quantity does not.
        return training_settings(self._options()).model_copy(update={"averaging": 0.0})

    def _kinds(self, targets: Tensor) -> NDArray[np.integer]:
        return np.zeros(len(targets), dtype=np.int64)
