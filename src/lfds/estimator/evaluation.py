"""A fitted estimator judged on labelled graphs."""

from lfds.data.graphset import GraphSet
from lfds.estimator.classifier import LFDSClassifier
from lfds.estimator.metrics import AmountMetrics, ClassMetrics, amount_metrics, class_metrics
from lfds.estimator.regression_targets import amounts
from lfds.estimator.regressor import LFDSRegressor
from lfds.estimator.targets import class_labels, positions


def evaluated(
    estimator: LFDSClassifier | LFDSRegressor, graphs: GraphSet
) -> ClassMetrics | AmountMetrics:
    """Return how good a model is on graphs that carry their targets.

    Args:
        estimator: Fitted on other graphs.
        graphs: Whose classes are among those the model knows.
    """
    if isinstance(estimator, LFDSClassifier):
        y = positions(class_labels(None, graphs), estimator.classes_)
        return class_metrics(y.numpy(), estimator.predict_proba(graphs))
    return amount_metrics(amounts(None, graphs), estimator.predict(graphs))
