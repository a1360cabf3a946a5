from dataclasses import replace

import pytest
import torch

from lfds.data.errors import DataError
from lfds.estimator.evaluation import evaluated
from tests.estimator.small import amounts, classifier, graphs, regressor


def test_a_classifier_is_judged_by_what_graphs_carry():
    found = evaluated(classifier(), graphs())
    assert found.accuracy == classifier().score(graphs())
    assert found.graphs == 24


def test_classes_are_matched_by_name_and_not_by_place():
    turned = replace(graphs(), classes=("ring", "path"), y=1 - graphs().y)
    assert evaluated(classifier(), turned) == evaluated(classifier(), graphs())


def test_a_class_the_model_never_saw_is_named():
    strange = replace(graphs(), classes=("path", "star"))
    with pytest.raises(DataError, match="label 'star' is none of the classes path, ring"):
        evaluated(classifier(), strange)


def test_a_regressor_is_judged_by_what_graphs_carry():
    carried = replace(graphs(), y=torch.tensor(amounts()).float(), classes=())
    assert evaluated(regressor(), carried).r2 == pytest.approx(regressor().score(carried))
    with pytest.raises(DataError, match="no classes"):
        evaluated(classifier(), carried)
