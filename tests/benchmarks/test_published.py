"""What is kept under results/ says by itself how it was made."""

import gzip
import json
from pathlib import Path

import pytest

from lfds.compare.task import named_network
from lfds.config.comparison import PRESETS, CompareSpec, make_spec
from lfds.config.network import LEGACY_DEFAULTS

RESULTS = Path(__file__).parents[2] / "results"
SPECS = sorted(RESULTS.glob("*/spec.json"))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.parent.name)
def test_a_spec_leaves_nothing_to_defaults_that_may_change(path):
    told = json.loads(path.read_text())
    assert make_spec(told)
    assert set(told) == set(CompareSpec.model_fields)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.parent.name)
def test_a_spec_asks_for_the_networks_and_the_training_of_its_records(path):
    spec = make_spec(json.loads(path.read_text()))
    seen = 0
    for record in records_beside(path):
        for candidate in record["settings"]["candidates"]:
            asked = named_network(spec.network_for(record["fold"]["pool"]))
            # What is newer than a record is not named in it.
            assert {name: asked[name] for name in candidate["network"]} == candidate["network"]
            for name, value in LEGACY_DEFAULTS.items():
                assert asked.get(name, value) == candidate["network"].get(name, value)
            trained = {"keep": "best", **candidate["training"]}
            training = spec.training.model_dump()
            assert {name: training[name] for name in trained} == trained
            seen += 1
    assert seen


def records_beside(path):
    with gzip.open(path.with_name("records.jsonl.gz"), "rt") as file:
        return [json.loads(line) for line in file]


@pytest.mark.parametrize(
    "path",
    sorted([*RESULTS.glob("paper-*/spec.json"), *RESULTS.glob("unnormed-*/spec.json")]),
    ids=lambda path: path.parent.name,
)
def test_runs_of_the_paper_judge_single_epochs(path):
    assert make_spec(json.loads(path.read_text())).averaging == 0.0


@pytest.mark.parametrize(
    "path", sorted(RESULTS.glob("paper-*/spec.json")), ids=lambda path: path.parent.name
)
def test_the_table_of_the_paper_is_of_its_preset_as_it_comes(path):
    spec = make_spec(json.loads(path.read_text()))
    preset = make_spec({**PRESETS["paper"], "data": spec.data, "pools": spec.pools})
    assert all(spec.network_for(pool) == preset.network_for(pool) for pool in spec.pools)
    assert (spec.protocol, spec.encoding) == (preset.protocol, preset.encoding)
