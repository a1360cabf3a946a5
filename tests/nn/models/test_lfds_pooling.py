import pytest
import torch
from tests.nn.cases import STRUCTURES, no_edges, small_settings
from torch.testing import assert_close

from lfds.config.network import LayerSettings
from lfds.nn import STRUCTURES as CLASSES
from lfds.nn import LFDSPool, NetworkSettings
from lfds.nn.models.lfds_pooling import LFDSPooling
from lfds.nn.pool import LatentPool

X, PTR, EDGES = torch.randn(5, 8), torch.tensor([0, 2, 5]), no_edges(5)
every_structure = pytest.mark.parametrize("name", STRUCTURES)


@every_structure
def test_settings_name_the_structure(name):
    (pool,) = LFDSPooling.from_settings(small_settings(name)).pools
    assert type(pool.structure) is CLASSES[name]
    assert (pool.structure.num_slots, pool.hidden_channels) == (16, 8)


def test_settings_are_the_options_of_the_layer():
    options = {
        "anchors": "mixture", "smoothness": 2.0, "reduction": "mass", "slot_dropout": 0.3,
        "blend": True, "counts": False, "readout": "max", "node_norm": False, "depth": 3,
    }  # fmt: skip
    assert set(options) == set(LayerSettings.layer_fields())
    (pool,) = LFDSPooling(small_settings("loop", **options)).pools
    assert type(pool.anchors).__name__ == "MixtureAnchors"
    assert (pool.reduction, pool.slot_dropout.p, pool.readout) == ("mass", 0.3, "max")
    assert (pool.counts, pool.node_norm, len(pool.layers)) == (None, None, 3)
    assert pool.blend is not None


def test_settings_of_single_structures():
    spectral = LFDSPooling(small_settings("learned-spectral", orthonormality=0.5))
    assert spectral.pools[0].structure.weight == 0.5
    for normalized in (True, False):
        settings = small_settings("learned-spatial", normalized_adjacency=normalized)
        assert LFDSPooling(settings).pools[0].structure.normalized == normalized


def test_it_is_the_layer_and_its_penalty():
    pooling = LFDSPooling(small_settings("learned-spectral", pooled_layers="last")).eval()
    (pool,) = pooling.pools
    assert isinstance(pool, LatentPool)
    pool.structure.frame.basis.data.mul_(2)
    assert_close(pooling(X, PTR, EDGES), pool(X, ptr=PTR))
    assert_close(pooling.penalty(), torch.tensor(16 * 9.0))  # || 4 I - I ||^2 of 16 slots


def test_structures_side_by_side():
    name = "+".join(STRUCTURES)
    pooling = LFDSPooling(small_settings(name, pooled_layers="last")).eval()
    assert [type(pool.structure) for pool in pooling.pools] == list(CLASSES.values())
    expected = torch.cat([pool(X, ptr=PTR) for pool in pooling.pools], dim=1)
    assert pooling.out_channels == len(STRUCTURES) * 2 * 2 * 8  # layers, maxima and sums, width
    assert_close(pooling(X, PTR, EDGES), expected)
    pooling.pools[list(STRUCTURES).index("learned-spectral")].structure.frame.basis.data.mul_(2)
    assert_close(pooling.penalty(), torch.tensor(16 * 9.0))


def test_all_layers_are_mapped_to_the_width_of_the_slots():
    pooling = LFDSPooling(small_settings("loop+image", layers=3)).eval()
    assert (pooling.in_channels, pooling.uses_all_layers, len(pooling.pools)) == (24, True, 2)
    one, other = pooling.pools
    assert one.input_map is other.input_map
    assert sum("input_map" in key for key, _ in pooling.named_parameters()) == 1
    x = torch.randn(5, 24)
    weights = one.input_map.weight.chunk(3, dim=1)
    mapped = sum(part @ weight.t() for part, weight in zip(x.chunk(3, dim=1), weights, strict=True))
    for pool in pooling.pools:
        plain = LFDSPool(8, pool.structure).eval()
        plain.load_state_dict(pool.state_dict(), strict=False)
        assert_close(pool(x, ptr=PTR), plain(mapped, ptr=PTR))


def test_first_layers_make_a_difference_where_all_are_used():
    x = torch.zeros(4, 16)
    x[:2, :8] = torch.randn(2, 8)
    ptr, edges = torch.tensor([0, 2, 4]), no_edges(4)
    one, other = LFDSPooling(small_settings("loop", layers=2)).eval()(x, ptr, edges)
    assert not torch.allclose(one, other)
    last = LFDSPooling(small_settings("loop", layers=2, pooled_layers="last")).eval()
    one, other = last(x[:, 8:], ptr, edges)
    assert_close(one, other)


def test_the_paper_pools_the_last_layer_alone():
    paper = LFDSPooling(NetworkSettings.paper("loop"))
    assert (paper.in_channels, paper.uses_all_layers, len(paper.pools)) == (64, False, 1)
    single = LFDSPooling(small_settings("loop", layers=1))
    assert (single.in_channels, single.uses_all_layers, single.pools[0].input_map) == (
        8,
        False,
        None,
    )
