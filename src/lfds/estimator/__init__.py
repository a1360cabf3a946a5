"""Classifiers and regressors of graphs with the interface of scikit-learn."""

from typing import TYPE_CHECKING

from lfds.lazy import lazy_names

if TYPE_CHECKING:
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.input_conversion import UnseenLabelsWarning
    from lfds.estimator.persistence import load
    from lfds.estimator.regressor import LFDSRegressor
    from lfds.estimator.targets import ConstantTargetWarning, ManyClassesWarning

__all__ = [
    "ConstantTargetWarning",
    "LFDSClassifier",
    "LFDSRegressor",
    "ManyClassesWarning",
    "UnseenLabelsWarning",
    "load",
]

_HOMES = {
    "ConstantTargetWarning": "lfds.estimator.targets",
    "LFDSClassifier": "lfds.estimator.classifier",
    "LFDSRegressor": "lfds.estimator.regressor",
    "ManyClassesWarning": "lfds.estimator.targets",
    "UnseenLabelsWarning": "lfds.estimator.input_conversion",
    "load": "lfds.estimator.persistence",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
