import sys

import pytest
import torch
from pydantic import ValidationError
from tests.nn.poolers_of_tgp import Clusters, stand_ins  # noqa: F401

from lfds.config.comparison import make_spec
from lfds.config.errors import SpecError
from lfds.nn import NetworkSettings
from lfds.nn.baselines.tgp_poolers import check_pooler, make_pooler

standing_in = pytest.mark.usefixtures("stand_ins")


@standing_in
def test_only_options_that_a_pooler_knows_are_handed_on():
    above, _ = make_pooler("above", channels=6, clusters=9, ratio=0.3)
    assert (above.in_channels, above.ratio) == (6, 0.3)
    clusters, _ = make_pooler("clusters", channels=6, clusters=9, ratio=0.3)
    assert isinstance(clusters, Clusters)
    assert (clusters.k, clusters.batched) == (9, True)


@standing_in
def test_the_ending_u_asks_for_no_padding_where_there_is_a_choice():
    assert not make_pooler("clusters_u", 6, 9, 0.5)[0].batched
    with pytest.raises(ValueError, match="got 'tgp:above_u'; did you mean 'tgp:above'"):
        make_pooler("above_u", 6, 9, 0.5)


@standing_in
def test_the_width_after_it_is_found_and_leaves_no_trace():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    pooler, width = make_pooler("twice", 6, 9, 0.5)
    assert width == 12
    assert pooler.training
    assert torch.rand(3).equal(expected)


@standing_in
@pytest.mark.parametrize(
    ("pool", "words"),
    [
        ("tgp:clustres", "one of above, clusters, .* got 'tgp:clustres'; did you mean 'tgp:clus"),
        ("tgp:", "got 'tgp:'$"),
        ("tgp:lacking", "'tgp:lacking' does not work here: torch_cluster is required$"),
        ("loop+tgp:above", "only latent structures are joined"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(pool, words):
    with pytest.raises(ValidationError) as refused:
        NetworkSettings(pool=pool)
    (error,) = refused.value.errors()
    assert "\n" not in error["msg"]
    with pytest.raises(ValueError, match=words):
        raise ValueError(error["msg"])


@standing_in
def test_a_comparison_takes_them_by_name():
    spec = make_spec({"pools": ["max", "tgp:clusters"], "options": {"clusters": 3}})
    assert spec.network_for("tgp:clusters").clusters == 3
    with pytest.raises(SpecError, match=r"did you mean 'tgp:above'\?$"):
        make_spec({"pools": ["tgp:abov"]})


def test_where_it_is_not_installed_one_line_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "tgp.poolers", None)
    check_pooler.cache_clear()
    with pytest.raises(SpecError) as refused:
        make_spec({"pools": ["tgp:mincut"]})
    assert "'tgp:mincut' needs torch-geometric-pool and torch_scatter" in str(refused.value)
    assert "pip install --no-build-isolation torch_scatter" in str(refused.value)
    assert str(refused.value).endswith("pip install 'lfds[tgp]'")
    assert "\n" not in str(refused.value)
