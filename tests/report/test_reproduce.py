import json
from pathlib import Path

from lfds.config.comparison import make_spec
from lfds.report.load import Source, read_sources
from lfds.report.reproduce import again
from lfds.results.record import Fold, Record
from tests.report.runs import record, records, settings, wish, write


def test_a_run_that_wrote_its_spec_is_told_by_it(tmp_path):
    (source,) = read_sources([write(tmp_path / "run", records(), wish(decay="linear"))])
    way = again(source)
    assert json.loads(way.spec) == wish(decay="linear")
    assert "spec.json" in way.command


def test_records_alone_give_a_spec_that_can_be_run():
    spec = make_spec({"data": ["pc-graphs"], "pools": ["max", "loop"], "folds": 3, "epochs": 7})
    some = [_task(spec, pool, fold) for pool in spec.pools for fold in range(3)]
    told = json.loads(again(Source(Path("x"), tuple(some), tuple(some))).spec)
    made = make_spec(told)
    assert (made.data, made.pools, made.all_seeds) == (spec.data, spec.pools, (0,))
    assert made.training == spec.training
    assert all(made.network_for(pool) == spec.network_for(pool) for pool in spec.pools)


def _task(spec, pool, fold):
    which = Fold(dataset="pc-graphs", pool=pool, protocol="fair", folds=3, fold=fold, seed=0)
    candidate = {
        "training": spec.training.model_dump(mode="json"),
        "network": spec.network_for(pool).model_dump(mode="json"),
    }
    told = {"content": "x", "validation": 0.1, "candidates": [candidate]}
    return Record(key=f"{pool}{fold}", fold=which, settings=told, failure={"reason": "-"})


def test_where_no_single_spec_says_it_all_none_is_given():
    mixed = (record("max", "A"), record("max", "A", told=settings("max", slots=16)))
    gaps = (record("max", "A", seed=0), record("max", "A", seed=2))
    two = settings("max")
    two["candidates"] *= 2
    for some in (mixed, gaps, (record("max", "A", told=two),), ()):
        way = again(Source(Path("x"), some, some))
        assert way.spec is None
        assert "several settings" in way.remark
