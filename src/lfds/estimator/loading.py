"""From a model folder back to the estimator that wrote it."""

from os import PathLike

from lfds.estimator.classifier import LFDSClassifier
from lfds.estimator.model_folder import load_model
from lfds.estimator.output_decoding import ClassMeaning
from lfds.estimator.regressor import LFDSRegressor


def load(path: str | PathLike[str]) -> LFDSClassifier | LFDSRegressor:
    """Return the estimator saved in the folder ``path``; it predicts the same bits.

    Nothing in the folder is run. A file that is missing, cut short or changed, and a format newer
    than this library, are refused.
    """
    saved = load_model(path)
    options = saved.card.parameters.for_estimator()
    if isinstance(saved.card.meaning, ClassMeaning):
        estimator: LFDSClassifier | LFDSRegressor = LFDSClassifier(**options)
    else:
        del options["class_weight"]
        estimator = LFDSRegressor(**options)
    return estimator.restored(saved)
