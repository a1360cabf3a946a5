"""A regressor of graphs with the interface of scikit-learn."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, final, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from torch import Tensor

from lfds.config.messages import counted
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.estimator.base import DEFAULTS, Encoding, GraphEstimator
from lfds.estimator.input_conversion import Graphs
from lfds.estimator.options import REGRESSION_BATCH_SIZE, document_options
from lfds.estimator.output_decoding import ValueDecoder
from lfds.estimator.targets import (
    check_number_of_targets,
    given_names,
    in_order_of,
    regression_targets,
    target_names,
    warn_of_constant_targets,
)
from lfds.nn import NetworkSettings
from lfds.train.objective import Objective, Regress


@final
@document_options
class LFDSRegressor(RegressorMixin, GraphEstimator[ValueDecoder]):
    """Predict one or several values of graphs.

    Graphs are those of :class:`lfds.LFDSClassifier`. Targets are standardized for the training;
    predictions are in the units of the targets. One of several targets may be missing (NaN). The
    head has no dropout by default: it adds noise to every value.

    Attributes:
        network_: The fitted :class:`lfds.nn.GraphNetwork`; of several members the first.
        networks_: All members.
        encoder_: Computes the node features.
        history_: Losses and scores of each epoch; ``history_.best`` is the epoch that was kept.
        histories_: Those of all members.
        validation_score_: Of the last fit, on the validation graphs; it is not saved.

    >>> import numpy as np
    >>> sets = [np.random.default_rng(k).normal(size=(20, 2)) for k in range(40)]
    >>> spread = [points.std() for points in sets]
    >>> reg = LFDSRegressor(epochs=5, options={"width": 16}).fit(sets, spread)
    >>> reg.predict(sets[:3]).shape
    (3,)
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
        batch_size: int = REGRESSION_BATCH_SIZE,
        learning_rate: float = DEFAULTS.learning_rate,
        loss: str = DEFAULTS.loss,
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

    def partial_fit(self, graphs: Graphs, y: Any = None) -> Self:
        """Train one epoch on some graphs, continuing from earlier calls.

        The node features and the scale of the targets are fixed by the first call. The state of
        the optimizer is not saved: after :func:`lfds.load` it starts anew.

        Args:
            graphs: Some of the graphs.
            y: Targets; by default those that the graphs carry.
        """
        return self._partial_fit(graphs, y, None)

    @overload
    def predict(
        self, graphs: Graphs, return_std: Literal[False] = False
    ) -> NDArray[np.float64]: ...

    @overload
    def predict(
        self, graphs: Graphs, return_std: Literal[True]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

    def predict(
        self, graphs: Graphs, return_std: bool = False
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the values of every graph, in the shape of the targets.

        Those of several members are averaged.

        Args:
            graphs: What ``fit`` takes.
            return_std: Whether to return also the standard deviation of the values over the
                members, in the same shape.
        """
        if return_std:
            outputs, spread = self._std(graphs)
            return self.decoder_.values(outputs), spread
        outputs = self.outputs(graphs)  # raises if there was no fit
        return self.decoder_.values(outputs)

    def score(self, graphs: Graphs, y: Any = None, sample_weight: Any = None) -> float:
        """Return the coefficient of determination R2, the mean over several targets.

        Those with the names that were fitted are matched by name, in any order.
        """
        from sklearn.metrics import r2_score

        data = self._read(graphs, targets=y is None)
        predicted, expected = self.predict(data), regression_targets(y, data)
        check_number_of_targets(expected, self.decoder_.outputs)
        expected = in_order_of(self.decoder_.names, expected, y, data)
        if not np.isnan(expected).any():
            return float(r2_score(expected, predicted, sample_weight=sample_weight))
        weights = np.ones(len(expected)) if sample_weight is None else np.asarray(sample_weight)
        scores = [
            r2_score(true[known], found[known], sample_weight=weights[known])
            for true, found in zip(expected.T, predicted.T, strict=True)
            for known in [~np.isnan(true)]
        ]
        return float(np.mean(scores))

    def _prepare(
        self, graphs: GraphSet, y: Any, decoder: ValueDecoder | None
    ) -> tuple[Tensor, ValueDecoder, Objective]:
        values = regression_targets(y, graphs)
        if decoder is None:
            names = graphs.target_names if y is None else given_names(y, graphs)
            decoder = ValueDecoder.fit(values, names)
            one = values.ndim == 1 and not names
            shown = () if one else target_names(y, graphs, decoder.outputs)
            warn_of_constant_targets(values, shown)
        found = values.reshape(len(values), -1).shape[1]
        if (decoder.outputs, decoder.single) != (found, values.ndim == 1):
            what = counted(found, "target")
            raise DataError(
                f"has {what} for each graph, and the model {decoder.outputs}", source="y"
            )
        values = in_order_of(decoder.names, values, y, graphs)
        missing = np.isnan(values)
        known = float((~missing).sum() / len(values)) if missing.any() else None
        huber = self._options().loss == "huber"
        return decoder.standardize(values), decoder, Regress(known, huber=huber)

    def _strata(self, targets: Tensor) -> NDArray[np.integer]:
        return np.zeros(len(targets), dtype=np.int64)

    def _network(self) -> NetworkSettings:
        return self._options().network_settings({"head_dropout": 0.0})
