import pytest
import torch
from torch.testing import assert_close

from lfds.nn import STRUCTURES, LFDSPool, NetworkSettings
from lfds.nn.models.lfds_pooling import LFDSPooling, make_structure
from lfds.nn.ops.edges import Edges


@pytest.mark.parametrize("name", STRUCTURES)
def test_names_lead_to_their_structures(name):
    structure = make_structure(name, NetworkSettings(pool=name, slots=16))
    assert type(structure) is type(STRUCTURES[name]())
    assert structure.num_slots == 16


def test_options_arrive():
    settings = NetworkSettings(
        pool="learned-spectral", slots=9, anchors="mixture", reduction="mass",
        slot_dropout=0.3, blend=True, orthonormality=0.5, pooled_layers="last",
    )  # fmt: skip
    (pool,) = LFDSPooling(8, settings).pools
    assert (pool.reduction, pool.slot_dropout.p, pool.structure.weight) == ("mass", 0.3, 0.5)
    assert type(pool.anchors).__name__ == "MixtureAnchors"
    assert pool.blend is not None
    assert (pool.readout, pool.node_norm is None) == ("max+weighted", False)
    bare = NetworkSettings(pool="loop", readout="max", node_norm=False, pooled_layers="last")
    (pool,) = LFDSPooling(8, bare).pools
    assert (pool.readout, pool.node_norm) == ("max", None)
    spatial = LFDSPooling(8, NetworkSettings(pool="learned-spatial", normalized_adjacency=True))
    assert spatial.pools[0].structure.normalized


def test_it_is_the_layer_and_its_penalty():
    settings = NetworkSettings(pool="learned-spectral", slots=9, pooled_layers="last")
    readout = LFDSPooling(8, settings).eval()
    (pool,) = readout.pools
    assert isinstance(pool, LFDSPool)
    pool.structure.frame.basis.data.mul_(2)
    x, ptr = torch.randn(5, 8), torch.tensor([0, 2, 5])
    edges = Edges.from_rows(torch.zeros(6).long(), torch.zeros(0).long())
    assert_close(readout(x, ptr, edges), pool(x, ptr=ptr))
    assert_close(readout.penalty(), torch.tensor(81.0))  # || 4 I - I ||^2 of nine


def test_other_poolings_are_no_structures():
    with pytest.raises(ValueError, match="'max' is no latent structure"):
        make_structure("max", NetworkSettings(pool="max"))


def test_several_structures_side_by_side():
    settings = NetworkSettings(pool="loop+image+learned-spectral", slots=9, pooled_layers="last")
    readout = LFDSPooling(8, settings).eval()
    assert [type(pool.structure).__name__ for pool in readout.pools] == [
        "Loop", "Image", "LearnedSpectrum",
    ]  # fmt: skip
    x, ptr = torch.randn(5, 8), torch.tensor([0, 2, 5])
    edges = Edges.from_rows(torch.zeros(6).long(), torch.zeros(0).long())
    expected = torch.cat([pool(x, ptr=ptr) for pool in readout.pools], dim=1)
    assert readout.out_channels == 3 * 2 * 2 * 8  # structures, layers, maxima and sums, width
    assert_close(readout(x, ptr, edges), expected)
    readout.pools[2].structure.frame.basis.data.mul_(2)
    assert_close(readout.penalty(), torch.tensor(81.0))


def test_all_layers_are_mixed_by_weights_of_their_own():
    settings = NetworkSettings(pool="loop+image", slots=4, layers=3)
    readout = LFDSPooling(8, settings).eval()
    assert (readout.channels, readout.uses_all_layers, len(readout.pools)) == (24, True, 2)
    x, ptr = torch.randn(5, 24), torch.tensor([0, 2, 5])
    edges = Edges.from_rows(torch.zeros(6).long(), torch.zeros(0).long())
    weights = readout.mix.weight.chunk(3, dim=1)
    layers = x.chunk(3, dim=1)
    mixed = sum(layer @ weight.t() for layer, weight in zip(layers, weights, strict=True))
    expected = torch.cat([pool(mixed, ptr=ptr) for pool in readout.pools], dim=1)
    assert_close(readout(x, ptr, edges), expected)


def test_what_the_first_layer_alone_knows_arrives():
    """A pooling of the last layer cannot tell these graphs apart."""
    x = torch.zeros(4, 16)
    x[:2, :8] = torch.randn(2, 8)
    ptr = torch.tensor([0, 2, 4])
    edges = Edges.from_rows(torch.zeros(5).long(), torch.zeros(0).long())
    one, other = LFDSPooling(8, NetworkSettings(pool="loop", layers=2)).eval()(x, ptr, edges)
    assert not torch.allclose(one, other)
    last = LFDSPooling(8, NetworkSettings(pool="loop", layers=2, pooled_layers="last")).eval()
    one, other = last(x[:, 8:], ptr, edges)
    assert_close(one, other)


def test_the_paper_shares_out_the_last_layer_alone():
    readout = LFDSPooling(8, NetworkSettings.paper("loop"))
    assert (readout.channels, readout.uses_all_layers, len(readout.pools)) == (8, False, 1)
    single = LFDSPooling(8, NetworkSettings(pool="loop", layers=1))
    assert (single.channels, single.uses_all_layers, len(single.pools)) == (8, False, 1)
