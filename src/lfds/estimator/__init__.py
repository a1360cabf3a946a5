"""Fit, predict, save and load: classifiers and regressors of graphs in scikit-learn's ways."""

from lfds.estimator.classifier import LFDSClassifier
from lfds.estimator.loading import load
from lfds.estimator.regressor import LFDSRegressor

__all__ = ["LFDSClassifier", "LFDSRegressor", "load"]
