"""How good predictions are: accuracy, ranking, calibration, and errors of values."""

from collections.abc import Mapping, Sequence
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
from lfds.estimator.target_matching import as_in_model, target_places
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
        graphs: Number of graphs with a known target.
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

    Targets with the names of those of the estimator are matched by name, in any order; of several
    some are enough, and the others are left out.

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
            _number_known(table >= 0, source),
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
    given = regression_targets(None, graphs, unknown=not decoder.single)
    predicted = estimator.predict(graphs)
    if decoder.single:
        return value_metrics(given.reshape(len(graphs)), predicted)
    places = given_places(estimator, graphs, source)
    expected = as_in_model(given.reshape(len(graphs), -1), places, np.nan)
    return several_metrics(
        _number_known(~np.isnan(expected), source),
        {
            name: value_metrics(expected[known, place], predicted[known, place])
            for place, name in enumerate(decoder.value_names)
            for known in [~np.isnan(expected[:, place])]
            if known.any()
        },
    )


def check_targets(
    estimator: LFDSClassifier | LFDSRegressor, graphs: GraphSet, source: str = "y"
) -> None:
    """Raise unless graphs carry the targets that an estimator predicts, or some by their names."""
    given_places(estimator, graphs, source)


def given_places(
    estimator: LFDSClassifier | LFDSRegressor, graphs: GraphSet, source: str = "y"
) -> tuple[int | None, ...]:
    """Return the place of each target of an estimator among those that graphs carry.

    Those of the same name belong together, the others are taken in their order. Of a model with
    several, some may be carried, by their names; the place of the others is ``None``.

    Args:
        estimator: Fitted.
        graphs: Which carry targets.
        source: Where the graphs are from, for the message.
    """
    count = 1 if graphs.y.ndim == 1 else graphs.y.shape[1]
    found = graphs.target_names if len(graphs.target_names) == count else ("",) * count
    return places_of(estimator, found, source)


def places_of(
    estimator: LFDSClassifier | LFDSRegressor, found: Sequence[str], source: str = "y"
) -> tuple[int | None, ...]:
    """Return the place of each target of an estimator among names, as :func:`given_places`."""
    wanted = model_targets(estimator)
    try:
        return target_places(wanted, found, some=predicts_several(estimator))
    except DataError:
        shown = [f" ({', '.join(names)})" if any(names) else "" for names in (found, wanted)]
        fix = "pass graphs with the same" + (", or some of them" if shown[1] else "")
        raise DataError(
            f"has {counted(len(found), 'target')}{shown[0]}, and the model "
            f"{len(wanted)}{shown[1]}; {fix}",
            source=source,
        ) from None


def model_targets(estimator: LFDSClassifier | LFDSRegressor) -> tuple[str, ...]:
    """Return the name of each target of an estimator, empty where it has none."""
    decoder = estimator.decoder_
    count = 1 if isinstance(decoder, ClassDecoder) else decoder.outputs
    for names in (decoder.target_names, estimator.training_data_.target_names):
        if len(names) == count:
            return names
    return ("",) * count


def predicts_several(estimator: LFDSClassifier | LFDSRegressor) -> bool:
    """Whether an estimator has a column of predictions for each of several targets."""
    decoder = estimator.decoder_
    several = isinstance(decoder, ValueDecoder) and not decoder.single
    return several or isinstance(decoder, MultiLabelDecoder)


def _number_known(known: NDArray[np.bool_], source: str) -> int:
    """Return the number of graphs with a known target, or raise if there is none."""
    count = int(known.any(axis=1).sum())
    if count == 0:
        raise DataError("no target of any graph is known; fill them in", source=source)
    return count


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
