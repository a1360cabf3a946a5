import json
from pathlib import Path

from lfds.config.comparison import make_spec as make_compare_spec
from lfds.report.run_spec import COMMAND, Source, read_sources, reproduce
from lfds.results.record import Fold, Record
from tests.report.runs import make_settings, make_spec, record, records, write


def test_stored_spec_is_used(tmp_path):
    (source,) = read_sources([write(tmp_path / "run", records(), make_spec(decay="linear"))])
    way = reproduce(source)
    assert json.loads(way.spec) == make_spec(decay="linear")
    assert "spec.json" in COMMAND


def test_records_alone_give_a_valid_spec():
    spec = make_compare_spec(
        {"data": ["pc-graphs"], "pools": ["max", "loop"], "folds": 3, "epochs": 7}
    )
    some = [_task(spec, pool, fold) for pool in spec.pools for fold in range(3)]
    stored = json.loads(reproduce(Source(Path("x"), tuple(some), tuple(some))).spec)
    made = make_compare_spec(stored)
    assert (made.data, made.pools, made.all_seeds) == (spec.data, spec.pools, (0,))
    assert made.training == spec.training
    assert all(made.network_for(pool) == spec.network_for(pool) for pool in spec.pools)


def _task(spec, pool, fold):
    which = Fold(dataset="pc-graphs", pool=pool, protocol="fair", folds=3, fold=fold, seed=0)
    candidate = {
        "training": spec.training.model_dump(mode="json"),
        "network": spec.network_for(pool).model_dump(mode="json"),
    }
    settings = {"content": "x", "validation": 0.1, "candidates": [candidate]}
    return Record(key=f"{pool}{fold}", fold=which, settings=settings, failure={"reason": "-"})


def test_records_with_different_settings_give_no_spec():
    mixed = (record("max", "A"), record("max", "A", settings=make_settings("max", slots=16)))
    gaps = (record("max", "A", seed=0), record("max", "A", seed=2))
    two = make_settings("max")
    two["candidates"] *= 2
    for some in (mixed, gaps, (record("max", "A", settings=two),), ()):
        way = reproduce(Source(Path("x"), some, some))
        assert way.spec is None
        assert "different settings" in way.remark


def test_spec_from_old_records_names_what_was_in_effect():
    some = (record("loop", "A"),)
    made = make_compare_spec(json.loads(reproduce(Source(Path("x"), some, some)).spec))
    assert made.averaging == 0.0
    network = made.network_for("loop")
    assert (network.node_norm, network.pooled_layers) == (False, "last")
