"""How good predictions are: right, balanced, ranked, and meant as they are said."""

from dataclasses import dataclass

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

_BINS = 10


@dataclass(frozen=True)
class Bin:
    """Predictions of about the same confidence.

    Attributes:
        count: How many there are.
        confidence: Mean probability of the class that was predicted.
        accuracy: How many of them are right.
    """

    count: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class ClassMetrics:
    """How good probabilities of classes are.

    Attributes:
        graphs: How many were judged.
        accuracy: Share of graphs whose class is right.
        balanced_accuracy: Mean over classes of the share that is right.
        f1: Harmonic mean of precision and recall, its mean over classes.
        auc: Area under the ROC curve, for several classes the mean of each against the rest;
            ``None`` where a class has no graph.
        log_loss: Mean of -log of the probability of the true class.
        calibration_error: Mean distance of confidence and accuracy over bins of confidence.
        confusion: Rows are true classes, columns predicted ones.
        bins: What the calibration error is made of, from the least confident.
    """

    graphs: int
    accuracy: float
    balanced_accuracy: float
    f1: float
    auc: float | None
    log_loss: float
    calibration_error: float
    confusion: tuple[tuple[int, ...], ...]
    bins: tuple[Bin, ...]


@dataclass(frozen=True)
class AmountMetrics:
    """How good quantities are; means over all targets.

    Attributes:
        graphs: How many were judged.
        mae: Mean absolute error.
        rmse: Root of the mean squared error.
        r2: Share of the variance that is explained; ``None`` for fewer than two graphs.
    """

    graphs: int
    mae: float
    rmse: float
    r2: float | None


def class_metrics(y: NDArray[np.int64], shares: NDArray[np.float64]) -> ClassMetrics:
    """Judge probabilities.

    Args:
        y: The place of the true class of each graph.
        shares: Probabilities, ``[graphs, classes]``.
    """
    found = shares.argmax(axis=1)
    places = np.arange(shares.shape[1])
    true_share = shares[np.arange(len(y)), y]
    bins = confidence_bins(shares.max(axis=1), found == y)
    return ClassMetrics(
        graphs=len(y),
        accuracy=float((found == y).mean()),
        # Classes that no graph has are no part of a mean over classes.
        balanced_accuracy=_balanced(y, found),
        f1=float(f1_score(y, found, labels=np.unique(y), average="macro", zero_division=0)),
        auc=_auc(y, shares),
        log_loss=float(-np.log(np.maximum(true_share, np.finfo(np.float64).tiny)).mean()),
        calibration_error=sum(b.count * abs(b.confidence - b.accuracy) for b in bins) / len(y),
        confusion=tuple(map(tuple, confusion_matrix(y, found, labels=places).tolist())),
        bins=bins,
    )


def amount_metrics(y: NDArray[np.float64], found: NDArray[np.float64]) -> AmountMetrics:
    """Judge quantities, ``[graphs]`` or ``[graphs, targets]`` each."""
    return AmountMetrics(
        graphs=len(y),
        mae=float(mean_absolute_error(y, found)),
        rmse=float(np.sqrt(mean_squared_error(y, found))),
        r2=float(r2_score(y, found)) if len(y) > 1 else None,
    )


def confidence_bins(
    confidence: NDArray[np.float64], right: NDArray[np.bool_], count: int = _BINS
) -> tuple[Bin, ...]:
    """Sort predictions into bins of equal width by their confidence; empty ones are left out."""
    which = np.minimum((confidence * count).astype(int), count - 1)
    return tuple(
        Bin(int(here.sum()), float(confidence[here].mean()), float(right[here].mean()))
        for here in (which == number for number in range(count))
        if here.any()
    )


def _balanced(y: NDArray[np.int64], found: NDArray[np.int64]) -> float:
    present = np.unique(y)
    return float(np.mean([(found[y == kind] == kind).mean() for kind in present]))


def _auc(y: NDArray[np.int64], shares: NDArray[np.float64]) -> float | None:
    if len(np.unique(y)) < shares.shape[1]:
        return None
    if shares.shape[1] == 2:
        return float(roc_auc_score(y, shares[:, 1]))
    return float(roc_auc_score(y, shares, multi_class="ovr", average="macro"))
