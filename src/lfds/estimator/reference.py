"""Whether a network is worth it: a random forest on the same graphs, and what to make of both."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from lfds.config.forest import ForestSettings
from lfds.data.graphset import GraphSet
from lfds.estimator.classifier import LFDSClassifier
from lfds.estimator.metrics import check_targets
from lfds.estimator.regressor import LFDSRegressor
from lfds.estimator.targets import class_indices, class_labels, regression_targets
from lfds.seeds import seed_for
from lfds.train.forest import Forest

Estimator = LFDSClassifier | LFDSRegressor
Floats = NDArray[np.float64]

# Mean differences beyond two standard errors are hardly chance.
_STANDARD_ERRORS = 2.0


@dataclass(frozen=True)
class Comparison:
    """A network and a random forest on the same graphs.

    Attributes:
        metric: What was measured.
        network: Of the network.
        forest: Of the random forest.
        graphs: Number of graphs.
        gain: Mean difference of the errors, forest minus network, in standard errors.
    """

    metric: str
    network: float
    forest: float
    graphs: int
    gain: float

    def in_words(self, part: str) -> str:
        """Return one line: both figures, and whether the network is worth it.

        Args:
            part: Which graphs they are, as ``test``.
        """
        if self.gain > _STANDARD_ERRORS:
            verdict = "the network is worth it"
        elif self.gain < -_STANDARD_ERRORS:
            verdict = "the random forest is better, and the network is not worth it as it is"
        else:
            verdict = "the difference may be chance: more graphs would tell"
        return (
            f"baseline: a random forest has {self.metric} {self.forest:.4f} on the same "
            f"{self.graphs:,} {part} graphs, the network {self.network:.4f}; {verdict}"
        )


def compare_with_forest(
    estimator: Estimator,
    train: GraphSet,
    test: GraphSet,
    *,
    settings: ForestSettings | None = None,
) -> Comparison:
    """Fit a random forest on training graphs and compare a fitted estimator with it on others.

    Args:
        estimator: Fitted, with the targets that the graphs carry.
        train: The graphs that it was fitted on.
        test: Other graphs, with at least one known target.
        settings: Of the forest.
    """
    check_targets(estimator, test)
    forest = Forest(settings or ForestSettings(), seed_for(estimator.seed, "estimator", "forest"))
    if isinstance(estimator, LFDSRegressor):
        forest.fit(train, _values(train))
        y = _values(test)
        return _compare_values(y, estimator.predict(test).reshape(y.shape), forest.predict(test))
    forest.fit(train, _indices(estimator, train), classes=len(estimator.classes_))
    labels, own, other = (
        _indices(estimator, test),
        estimator.predict_proba(test),
        forest.predict(test),
    )
    if estimator.decoder_.kind == "classes":
        return _compare_classes(labels[:, 0], own, other[:, 0])
    return _compare_labels(labels, own, other[:, :, 1])


def _indices(estimator: LFDSClassifier, graphs: GraphSet) -> NDArray[np.int64]:
    if estimator.decoder_.kind == "labels":
        return estimator.label_indices(graphs)
    return class_indices(class_labels(None, graphs), estimator.classes_).numpy()[:, None]


def _values(graphs: GraphSet) -> Floats:
    return regression_targets(None, graphs).reshape(len(graphs), -1)


def _compare_classes(y: NDArray[np.int64], network: Floats, forest: Floats) -> Comparison:
    errors = [(one.argmax(axis=1) != y).astype(np.float64) for one in (network, forest)]
    own, other = (1 - float(one.mean()) for one in errors)
    return Comparison("accuracy", own, other, len(y), _gain(errors[1] - errors[0]))


def _compare_labels(y: NDArray[np.int64], network: Floats, forest: Floats) -> Comparison:
    """Compare mean areas under the ROC curve; errors are squared ones of probabilities."""
    from sklearn.metrics import roc_auc_score

    known = y >= 0
    both = [place for place in range(y.shape[1]) if len(np.unique(y[known[:, place], place])) == 2]

    def area(found: Floats) -> float:
        each = [roc_auc_score(y[known[:, k], k], found[known[:, k], k]) for k in both]
        return float(np.mean(each)) if each else float("nan")

    errors = [_per_graph((one - y) ** 2, known) for one in (network, forest)]
    gain = _gain(errors[1] - errors[0])
    return Comparison("mean AUC", area(network), area(forest), len(y), gain)


def _compare_values(y: Floats, network: Floats, forest: Floats) -> Comparison:
    """Compare root mean squared errors, in standard deviations if there are several targets."""
    known = ~np.isnan(y)
    scale = np.nanstd(y, axis=0) if y.shape[1] > 1 else np.ones(1)
    scale = np.where(scale > 0, scale, 1.0)
    squares = [((one - np.nan_to_num(y)) / scale) ** 2 for one in (network, forest)]
    errors = [_per_graph(one, known) for one in squares]
    own, other = (sqrt(one[known].mean()) for one in squares)
    metric = "RMSE" if y.shape[1] == 1 else "RMSE (in standard deviations)"
    return Comparison(metric, own, other, len(y), _gain(errors[1] - errors[0]))


def _per_graph(errors: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return the mean error of each graph over its known targets."""
    counts = known.sum(axis=1)
    sums = np.where(known, errors, 0.0).sum(axis=1)
    found: Floats = sums[counts > 0] / counts[counts > 0]
    return found


def _gain(differences: Floats) -> float:
    r"""Return the mean difference in standard errors, :math:`\bar d \sqrt{n} / s`."""
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    if spread == 0:
        return 0.0
    return float(differences.mean()) * sqrt(len(differences)) / spread
