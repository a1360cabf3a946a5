import json
import warnings

import pytest

from lfds.estimator.classifier import LFDSClassifier
from lfds.estimator.console import print_fit, print_metrics, shows_bars, warnings_told
from lfds.estimator.evaluation import evaluated
from lfds.estimator.metrics import AmountMetrics
from tests.estimator.small import FAST, classifier, graphs, regressor


def test_a_fit_in_three_lines(capsys, tmp_path):
    print_fit(classifier(), graphs(), tmp_path)
    first, second, third = capsys.readouterr().out.splitlines()
    assert first == "fitted on 24 graphs of 2 classes: path, ring"
    assert second.startswith("best was epoch ")
    assert second.endswith("% right in validation")
    assert third == f"saved as {tmp_path}"
    print_fit(regressor(), graphs(), tmp_path)
    assert "% of the variance left in validation" in capsys.readouterr().out


def test_a_fit_without_validation_claims_none(capsys, tmp_path):
    print_fit(LFDSClassifier(**FAST, validation=0).fit(graphs()), graphs(), tmp_path)
    second = capsys.readouterr().out.splitlines()[1]
    assert second.startswith("kept epoch 2 of 2, with ")
    assert second.endswith("% right on the graphs it was fitted on; none were set apart")


def test_metrics_for_people_and_for_programs(capsys):
    found = evaluated(classifier(), graphs())
    print_metrics(found, classifier().classes_, as_json=False)
    shown = capsys.readouterr().out
    for word in ("accuracy", "balanced accuracy", "auc", "confusion", "calibration", "ring"):
        assert word in shown
    print_metrics(found, classifier().classes_, as_json=True)
    read = json.loads(capsys.readouterr().out)
    assert read["classes"] == ["path", "ring"]
    assert read["accuracy"] == found.accuracy
    assert read["confusion"] == [list(row) for row in found.confusion]


def test_what_is_undefined_says_why(capsys):
    print_metrics(AmountMetrics(graphs=1, mae=0.5, rmse=0.5, r2=None), (), as_json=False)
    assert "none: too few graphs, or a class without any" in capsys.readouterr().out


def test_every_kind_of_warning_is_told_once_and_on_one_line(capsys):
    with warnings_told():
        for message in ("first\nof all", "second"):
            warnings.warn(message, UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "lfds: warning: first of all\n"
    with pytest.warns(UserWarning, match="later"):  # afterwards all is as before
        warnings.warn("later", UserWarning, stacklevel=1)


def test_bars_are_for_terminals():
    assert not shows_bars()
