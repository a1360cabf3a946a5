"""Structures for ablations keep the invariants of all others."""

import pytest
import torch
from torch.testing import assert_close

import lfds
from lfds.config.registry import CONTROLS
from lfds.nn import NetworkSettings

every_control = pytest.mark.parametrize("name", CONTROLS)


def control(name, slots=5):
    return CONTROLS[name].load().from_settings(NetworkSettings(pool=name, slots=slots))


@every_control
def test_invariants(name):
    pool = lfds.LFDSPool(4, control(name))
    lfds.testing.assert_permutation_invariant(pool)
    lfds.testing.assert_batch_independent(pool)
    lfds.testing.assert_equivariant(pool)
    lfds.testing.assert_gradients_correct(pool)
    lfds.testing.assert_state_dict_round_trip(pool)
    pool.structure.sketch()


def changed_slots(structure):
    """The slots that change after a layer if the first one is changed."""
    layer = structure.double().layer(16).double().eval()
    slots = torch.randn(1, structure.num_slots, 16, dtype=torch.float64)
    other = slots.clone()
    other[:, 0] += 1
    difference = (layer(slots, structure) - layer(other, structure)).abs().amax(dim=2)
    return (difference[0] > 1e-12).nonzero()[:, 0].tolist()


def test_who_exchanges_with_whom():
    torch.manual_seed(0)
    assert changed_slots(control("isolated")) == [0]
    assert changed_slots(control("one-slot")) == [0]
    assert changed_slots(control("complete")) == [0, 1, 2, 3, 4]
    assert changed_slots(control("attention-slots")) == [0, 1, 2, 3, 4]
    random = control("random")
    assert changed_slots(random) == [0, *random.adjacency[0].nonzero()[:, 0].tolist()]


def test_a_random_graph_has_as_many_edges_as_a_loop_and_is_always_the_same():
    graph = control("random", 16)
    assert graph.adjacency.sum() == lfds.Loop(16).adjacency.sum()
    assert_close(graph.adjacency, graph.adjacency.T)
    assert_close(graph.adjacency, control("random", 16).adjacency)
