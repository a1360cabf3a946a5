import pytest
import torch

import lfds


def test_the_registry_names_the_six_structures_of_the_paper():
    assert list(lfds.STRUCTURES) == [
        "image",
        "array",
        "sequence",
        "loop",
        "learned-spatial",
        "learned-spectral",
    ]
    with pytest.raises(TypeError):
        lfds.STRUCTURES["spiral"] = lfds.Loop


@pytest.mark.parametrize("name", lfds.STRUCTURES)
def test_every_structure_has_64_slots_by_default(name):
    structure = lfds.STRUCTURES[name]()
    assert structure.num_slots == 64
    assert structure.layer(4)(torch.randn(3, 64, 4), structure).shape == (3, 64, 4)


@pytest.mark.parametrize("name", lfds.STRUCTURES)
def test_resetting_a_layer_forgets_what_it_learned(name):
    structure = lfds.STRUCTURES[name]()
    layer = structure.layer(4)
    layer(torch.randn(3, 64, 4) + 5, structure)
    before = {key: value.clone() for key, value in layer.state_dict().items()}
    layer.reset_parameters()
    after = layer.state_dict()
    changed = {key for key in before if not torch.equal(before[key], after[key])}
    assert "activation.norm.running_mean" in changed
    assert any(key.endswith(("transforms.weight", "convolution.weight")) for key in changed)
