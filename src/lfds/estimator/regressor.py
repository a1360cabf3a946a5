"""A regressor of graphs with the interface of scikit-learn."""

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
from lfds.estimator.options import document_options
from lfds.estimator.output_decoding import ValueDecoder
from lfds.estimator.targets import regression_targets
from lfds.nn import NetworkSettings
from lfds.train.objective import Objective, Regress


@final
@document_options
class LFDSRegressor(RegressorMixin, GraphEstimator[ValueDecoder]):
    """Predict one or several values of graphs.

    Graphs are those of :class:`lfds.LFDSClassifier`. Targets are standardized for the training,
    whose loss is the squared error; predictions are in the units of the targets. The head has no
    dropout by default: it adds noise to every value.

    Attributes:
        network_: The fitted :class:`lfds.nn.GraphNetwork`.
        encoder_: Computes its node features.
        history_: Losses and scores of each epoch; ``history_.best`` is the epoch that was kept.

    >>> import numpy as np
    >>> sets = [np.random.default_rng(k).normal(size=(20, 2)) for k in range(40)]
    >>> spread = [points.std() for points in sets]
    >>> reg = LFDSRegressor(epochs=5, options={"width": 16}).fit(sets, spread)
    >>> reg.predict(sets[:3]).shape
    (3,)
    """

    def partial_fit(self, graphs: Graphs, y: Any = None) -> Self:
        """Train one epoch on some graphs, continuing from earlier calls.

        The node features and the scale of the targets are fixed by the first call. The state of
        the optimizer is not saved: after :func:`lfds.load` it starts anew.

        Args:
            graphs: Some of the graphs.
            y: Targets; by default those that the graphs carry.
        """
        return self._partial_fit(graphs, y, None)

    def predict(self, graphs: Graphs) -> NDArray[np.float64]:
        """Return the values of every graph, in the shape of the targets."""
        outputs = self.outputs(graphs)
        return self.decoder_.values(outputs)

    def score(self, graphs: Graphs, y: Any = None, sample_weight: Any = None) -> float:
        """Return the coefficient of determination R2."""
        data = self._read(graphs, targets=y is None)
        predicted = self.predict(data)
        return float(r2_score(regression_targets(y, data), predicted, sample_weight=sample_weight))

    def _prepare(
        self, graphs: GraphSet, y: Any, decoder: ValueDecoder | None
    ) -> tuple[Tensor, ValueDecoder, Objective]:
        values = regression_targets(y, graphs)
        decoder = ValueDecoder.fit(values) if decoder is None else decoder
        found = values.reshape(len(values), -1).shape[1]
        if (decoder.outputs, decoder.single) != (found, values.ndim == 1):
            raise DataError(
                f"has {found} targets for each graph, and the model {decoder.outputs}", source="y"
            )
        return decoder.standardize(values), decoder, Regress()

    def _strata(self, targets: Tensor) -> NDArray[np.integer]:
        return np.zeros(len(targets), dtype=np.int64)

    def _network(self) -> NetworkSettings:
        return self._options().network_settings({"head_dropout": 0.0})

    def _training(self) -> TrainingSettings:
        # Recalibrated batch norms may take a channel that rarely responds for a constant one, and
        # magnify it where it does respond. A class may survive that, a value does not.
        return self._options().training_settings().model_copy(update={"averaging": 0.0})
