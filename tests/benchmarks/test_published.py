"""What is kept under results/ says by itself how it was made."""

import json
from pathlib import Path

import pytest

from lfds.experiment.spec import CompareSpec, make_spec

RESULTS = Path(__file__).parents[2] / "results"
SPECS = sorted(RESULTS.glob("*/spec.json"))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.parent.name)
def test_a_spec_leaves_nothing_to_defaults_that_may_change(path):
    told = json.loads(path.read_text())
    assert make_spec(told)
    assert set(told) == set(CompareSpec.model_fields)


@pytest.mark.parametrize(
    "path", sorted(RESULTS.glob("paper-*/spec.json")), ids=lambda p: p.parent.name
)
def test_runs_of_the_paper_judge_single_epochs(path):
    assert make_spec(json.loads(path.read_text())).averaging == 0.0
