"""Classifiers and regressors of graphs with the interface of scikit-learn."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lfds.estimator.classifier import LFDSClassifier
    from lfds.estimator.input_conversion import UnseenLabelsWarning
    from lfds.estimator.persistence import load
    from lfds.estimator.regressor import LFDSRegressor
    from lfds.estimator.targets import ManyClassesWarning

__all__ = ["LFDSClassifier", "LFDSRegressor", "ManyClassesWarning", "UnseenLabelsWarning", "load"]

_HOMES = {
    "LFDSClassifier": "lfds.estimator.classifier",
    "LFDSRegressor": "lfds.estimator.regressor",
    "ManyClassesWarning": "lfds.estimator.targets",
    "UnseenLabelsWarning": "lfds.estimator.input_conversion",
    "load": "lfds.estimator.persistence",
}


def __getattr__(name: str) -> object:
    # torch and scikit-learn take seconds to import; help texts do not wait for them.
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(
        f"module 'lfds.estimator' has no attribute {name!r}; it offers {', '.join(__all__)}"
    )


def __dir__() -> list[str]:
    return sorted(__all__)
