"""What every structure of the registry has in common.

Properties, reference, precisions and export of poolings on them are tested on all of them, too:
see `tests/nn/cases.py`.
"""

import pytest
import torch
from tests.nn.cases import STRUCTURES, VARIANTS, small_settings
from torch.testing import assert_close

import lfds
from lfds.config import registry
from lfds.nn import Structure

every_structure = pytest.mark.parametrize("name", STRUCTURES)


def test_structures_are_those_of_the_registry():
    assert list(lfds.STRUCTURES) == list(registry.STRUCTURES)
    for name, entry in registry.STRUCTURES.items():
        assert lfds.STRUCTURES[name] is entry.load() is getattr(lfds, entry.class_name)
        assert issubclass(lfds.STRUCTURES[name], Structure)
    with pytest.raises(TypeError):
        lfds.STRUCTURES["spiral"] = lfds.Loop


def test_the_six_structures_of_the_paper_are_there():
    paper = {"image", "array", "sequence", "loop", "learned-spatial", "learned-spectral"}
    assert paper <= set(lfds.STRUCTURES)


@every_structure
@pytest.mark.parametrize("slots", [9, 16, 25])
def test_the_settings_say_how_many_slots(name, slots):
    structure = lfds.STRUCTURES[name].from_settings(small_settings(name, slots=slots))
    assert structure.num_slots == slots
    layer = structure.layer(4)
    assert layer(torch.randn(3, slots, 4), structure).shape == (3, slots, 4)


@every_structure
def test_64_slots_by_default(name):
    assert lfds.STRUCTURES[name]().num_slots == 64


@every_structure
def test_a_layer_works_on_each_graph_alone(name):
    structure = STRUCTURES[name]()
    layer, slots = structure.layer(4).double().eval(), torch.randn(3, 16, 4, dtype=torch.float64)
    structure = structure.double()
    together = layer(slots, structure)
    for graph in range(3):
        assert_close(layer(slots[graph : graph + 1], structure)[0], together[graph])


@every_structure
def test_resetting_a_layer_forgets_what_it_learned(name):
    structure = STRUCTURES[name]()
    layer = structure.layer(4)
    layer(torch.randn(3, 16, 4) + 5, structure)
    before = {key: value.clone() for key, value in layer.state_dict().items()}
    layer.reset_parameters()
    after = layer.state_dict()
    same = [key for key in before if torch.equal(before[key], after[key])]
    # Scales and shifts of batch norms were not trained.
    assert all(key.endswith(("norm.weight", "norm.bias")) for key in same), same


@pytest.mark.parametrize("name", {**STRUCTURES, **VARIANTS})
def test_symmetries_are_permutations(name):
    structure = {**STRUCTURES, **VARIANTS}[name]()
    symmetries = list(structure.symmetries())
    assert symmetries
    for symmetry in symmetries:
        assert symmetry.order.sort().values.tolist() == list(range(structure.num_slots))
        assert symmetry.image.num_slots == structure.num_slots
        assert symmetry.order.tolist() != list(range(structure.num_slots))
        assert symmetry.support is None or symmetry.support.any()


@pytest.mark.parametrize("name", {**STRUCTURES, **VARIANTS})
def test_a_sketch_fits_the_slots(name):
    structure = {**STRUCTURES, **VARIANTS}[name]()
    sketch = structure.sketch()
    assert sketch.name
    if sketch.layout == "grid":
        assert sketch.size[0] * sketch.size[1] == structure.num_slots
    if sketch.matrix is not None:
        assert sketch.matrix.shape == (structure.num_slots, structure.num_slots)


@every_structure
def test_penalty_and_repr(name):
    structure = STRUCTURES[name]()
    assert structure.penalty().shape == ()
    assert structure.penalty().item() >= 0
    assert repr(structure).startswith(f"{lfds.STRUCTURES[name].__name__}(")
    assert "slots" in repr(structure)
