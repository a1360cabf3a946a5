import json

from lfds.cli.evaluate import print_metrics
from lfds.estimator.metrics import ValueMetrics, evaluate
from tests.estimator.small import classifier, graphs


def test_metrics_as_tables_and_as_json(lfds, tmp_path):
    classifier().save("model")
    graphs().save("set")
    shown = lfds("evaluate", "model", "set")[1]
    for word in ("accuracy", "balanced accuracy", "auc", "confusion", "calibration", "ring"):
        assert word in shown
    read = json.loads(lfds("evaluate", "model", "set", "--json")[1])
    expected = evaluate(classifier(), graphs())
    assert read["classes"] == ["path", "ring"]
    assert read["accuracy"] == expected.accuracy
    assert read["confusion"] == [list(row) for row in expected.confusion]


def test_an_undefined_metric_has_a_reason(capsys):
    print_metrics(ValueMetrics(graphs=1, mae=0.5, rmse=0.5, r2=None), ())
    assert "undefined: too few graphs, or a class without any" in capsys.readouterr().out
