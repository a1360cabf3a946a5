import json

import pytest

from lfds.compare.display import as_dict, comparisons, print_result
from lfds.compare.runner import Result
from lfds.config.comparison import make_spec
from lfds.results.table import table_of
from tests.results.records import failed_record, fair_record

SCORES = {
    ("max", "A"): (0.5, 0.6),
    ("loop", "A"): (0.7, 0.9),
    ("max", "B"): (0.5, 0.5),
    ("loop", "B"): (0.4, 0.4),
}


def result(*failed):
    spec = make_spec({"data": ["A", "B"], "pools": ["max", "loop"], "folds": 2})
    records = tuple(
        failed_record(number, pool=pool, dataset=dataset)
        if (pool, dataset) in failed and number == 1
        else fair_record(score, number, pool=pool, dataset=dataset)
        for (pool, dataset), scores in SCORES.items()
        for number, score in enumerate(scores)
    )
    table = table_of(
        "fair", records, pools=spec.pools, datasets=spec.data, folds=2, seeds=spec.all_seeds
    )
    return Result(spec, records, (table,))


def test_the_table_has_poolings_as_rows_and_names_its_rule(capsys):
    print_result(result())
    shown = capsys.readouterr().out.splitlines()
    assert "rule fair: epoch chosen on validation graphs" in shown[0]
    assert shown[1].split() == ["A", "B"]
    assert shown[2].split(maxsplit=1) == ["max", "55.0 ± 7.1  50.0 ± 0.0"]
    assert shown[3].split()[0] == "loop"
    assert shown[4].startswith("mean ranks (fair): max 1.50, loop 1.50; critical difference 1.39")


def test_a_failed_fold_is_shown_instead_of_mean_and_ranks(capsys):
    print_result(result(("loop", "B")))
    shown = capsys.readouterr().out
    assert "1 of 2 folds failed" in shown
    assert "failed: loop on B, seed 0, fold 1: the loss became nan" in shown
    assert "mean ranks" not in shown


def test_the_json_has_every_number_under_its_rule():
    plain = as_dict(result())
    assert json.loads(json.dumps(plain, allow_nan=False))["rules"].keys() == {"fair"}
    assert plain["rules"]["fair"]["ranks"]["datasets"] == 2
    first, second = plain["rules"]["fair"]["comparisons"]
    assert (first["dataset"], first["first"], first["second"]) == ("A", "max", "loop")
    assert first["difference"] == pytest.approx(-0.25)
    # The same difference in both folds: t is infinite, which JSON cannot hold, and p is that of
    # two equal signs.
    assert (second["t"], second["p"]) == (None, 0.5)


def test_incomplete_rows_are_not_compared():
    broken = result(("loop", "B"))
    assert [found["dataset"] for found in comparisons(broken, broken.tables[0])] == ["A"]
    assert as_dict(broken)["failed"][0]["reason"] == "the loss became nan"
