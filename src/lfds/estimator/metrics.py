"""How good predictions are: accuracy, ranking, calibration, and errors of values."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    confusion_matrix,
    f1_score,
    mean_absolute_error,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)

from lfds.config.messages import counted
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.estimator.classifier import LFDSClassifier
from lfds.estimator.output_decoding import ClassDecoder, MultiLabelDecoder, ValueDecoder
from lfds.estimator.regressor import LFDSRegressor
from lfds.estimator.targets import class_indices, class_labels, regression_targets


@dataclass(frozen=True)
class CalibrationBin:
    """Predictions of similar confidence.

    Attributes:
        count: Number of predictions.
        confidence: Mean probability of the predicted class.
        accuracy: Fraction of correct predictions.
    """

    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class ClassMetrics:
    """Metrics of class probabilities.

    Attributes:
        graphs: Number of graphs.
        accuracy: Fraction of correct predictions.
        balanced_accuracy: Mean over classes of the fraction of correct predictions.
        f1: F1 score, averaged over classes.
        auc: Area under the ROC curve, for several classes averaged one against the rest; ``None``
            where a class has no graph.
        log_loss: Mean negative log probability of the true class.
        calibration_error: Mean distance of confidence and accuracy over bins of confidence.
        confusion: Rows are true classes, columns predicted ones.
        bins: The bins of the calibration error, by rising confidence.
    """

    graphs: int
    accuracy: float
    balanced_accuracy: float
    f1: float
    auc: float | None
    log_loss: float
    calibration_error: float
    confusion: tuple[tuple[int, ...], ...]
    bins: tuple[CalibrationBin, ...]


@dataclass(frozen=True)
class ValueMetrics:
    """Metrics of predicted values, averaged over all targets.

    Attributes:
        graphs: Number of graphs.
        mae: Mean absolute error.
        rmse: Root mean squared error.
        r2: Coefficient of determination; ``None`` for fewer than two graphs.
    """

    graphs: int
    mae: float
    rmse: float
    r2: float | None


@dataclass(frozen=True)
class SeveralMetrics:
    """Metrics of several targets.

    Attributes:
        graphs: Number of graphs.
        mean: The mean over targets of each metric that is one number.
        targets: The metrics of each target, over the graphs for which it is known.
    """

    graphs: int
    mean: dict[str, float | None]
    targets: dict[str, ClassMetrics | ValueMetrics]


Metrics = ClassMetrics | ValueMetrics | SeveralMetrics


def evaluate(
    estimator: LFDSClassifier | LFDSRegressor, graphs: GraphSet, source: str = "y"
) -> Metrics:
    """Return the metrics of a fitted estimator on graphs that carry their targets.

    Args:
        estimator: Fitted on other graphs.
        graphs: Their classes have to be among those of the estimator.
        source: Where the graphs are from, for the message about an unknown class.
    """
    check_targets(estimator, graphs, source)
    decoder = estimator.decoder_
    if isinstance(decoder, MultiLabelDecoder):
        assert isinstance(estimator, LFDSClassifier)
        table = estimator.label_indices(graphs)
        second = estimator.predict_proba(graphs)
        pairs = np.stack([1 - second, second], axis=2)
        return several_metrics(
            len(graphs),
            {
                name: class_metrics(table[known, place], pairs[known, place])
                for place, name in enumerate(decoder.targets)
                for known in [table[:, place] >= 0]
                if known.any()
            },
        )
    if isinstance(estimator, LFDSClassifier):
        y = class_indices(class_labels(None, graphs), estimator.classes_, source)
        return class_metrics(y.numpy(), estimator.predict_proba(graphs))
    assert isinstance(decoder, ValueDecoder)
    expected, predicted = regression_targets(None, graphs), estimator.predict(graphs)
    if expected.ndim == 1:
        return value_metrics(expected, predicted)
    return several_metrics(
        len(graphs),
        {
            name: value_metrics(expected[known, place], predicted[known, place])
            for place, name in enumerate(decoder.value_names)
            for known in [~np.isnan(expected[:, place])]
        },
    )


def check_targets(
    estimator: LFDSClassifier | LFDSRegressor, graphs: GraphSet, source: str = "y"
) -> None:
    """Raise unless graphs carry as many targets as an estimator predicts."""
    decoder = estimator.decoder_
    wanted = 1 if isinstance(decoder, ClassDecoder) else decoder.outputs
    found = 1 if graphs.y.ndim == 1 else graphs.y.shape[1]
    if wanted != found:
        names = f" ({', '.join(decoder.target_names)})" if decoder.target_names else ""
        raise DataError(
            f"has {counted(found, 'target')}, and the model {wanted}{names}; pass graphs with the "
            f"same",
            source=source,
        )


def several_metrics(
    graphs: int, targets: Mapping[str, ClassMetrics | ValueMetrics]
) -> SeveralMetrics:
    """Return the metrics of several targets, with their means."""
    single: dict[str, list[float]] = {}
    for metrics in targets.values():
        for name, value in asdict(metrics).items():
            if isinstance(value, float):
                single.setdefault(name, []).append(value)
    means = {name: float(np.mean(values)) for name, values in single.items()}
    return SeveralMetrics(graphs, dict(means), dict(targets))


def class_metrics(y: NDArray[np.int64], probabilities: NDArray[np.float64]) -> ClassMetrics:
    """Return the metrics of class probabilities.

    Args:
        y: The index of the true class of each graph.
        probabilities: ``[graphs, classes]``.
    """
    predicted = probabilities.argmax(axis=1)
    classes = np.arange(probabilities.shape[1])
    of_true_class = probabilities[np.arange(len(y)), y]
    bins = calibration_bins(probabilities.max(axis=1), predicted == y)
    return ClassMetrics(
        graphs=len(y),
        accuracy=float((predicted == y).mean()),
        # Classes without graphs do not count in means over classes.
        balanced_accuracy=float(np.mean([(predicted[y == c] == c).mean() for c in np.unique(y)])),
        f1=float(f1_score(y, predicted, labels=np.unique(y), average="macro", zero_division=0)),
        auc=_auc(y, probabilities),
        log_loss=float(-np.log(np.maximum(of_true_class, np.finfo(np.float64).tiny)).mean()),
        calibration_error=sum(b.count * abs(b.confidence - b.accuracy) for b in bins) / len(y),
        confusion=tuple(map(tuple, confusion_matrix(y, predicted, labels=classes).tolist())),
        bins=bins,
    )


def value_metrics(y: NDArray[np.float64], predicted: NDArray[np.float64]) -> ValueMetrics:
    """Return the metrics of values, ``[graphs]`` or ``[graphs, targets]`` each."""
    return ValueMetrics(
        graphs=len(y),
        mae=float(mean_absolute_error(y, predicted)),
        rmse=float(np.sqrt(mean_squared_error(y, predicted))),
        r2=float(r2_score(y, predicted)) if len(y) > 1 else None,
    )


def calibration_bins(
    confidence: NDArray[np.float64], correct: NDArray[np.bool_], count: int = 10
) -> tuple[CalibrationBin, ...]:
    """Sort predictions into bins of equal width by confidence, without the empty ones."""
    number = np.minimum((confidence * count).astype(int), count - 1)
    return tuple(
        CalibrationBin(int(rows.sum()), float(confidence[rows].mean()), float(correct[rows].mean()))
        for rows in (number == bin_number for bin_number in range(count))
        if rows.any()
    )


def _auc(y: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float | None:
    if len(np.unique(y)) < probabilities.shape[1]:
        return None
    if probabilities.shape[1] == 2:
        return float(roc_auc_score(y, probabilities[:, 1]))
    return float(roc_auc_score(y, probabilities, multi_class="ovr", average="macro"))
