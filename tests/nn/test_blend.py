import torch
from torch.testing import assert_close

from lfds.nn.slot_modules import MaxBlend


def test_blend_is_its_equation():
    blend = MaxBlend()
    with torch.no_grad():
        blend.logarithms.copy_(torch.tensor([0.5, -1.0]))
    slots, x_max = torch.randn(3, 5, 4), torch.randn(3, 4)
    found = blend(slots, x_max)
    for graph in range(3):
        for slot in range(5):
            expected = 2.718281828**0.5 * slots[graph, slot] + 2.718281828**-1.0 * x_max[graph]
            assert_close(found[graph, slot], expected)


def test_factors_start_at_one_and_stay_positive():
    blend = MaxBlend()
    assert blend.factors.tolist() == [1.0, 1.0]
    with torch.no_grad():
        blend.logarithms.fill_(-30.0)
    assert (blend.factors > 0).all()
    blend.reset_parameters()
    assert blend.factors.tolist() == [1.0, 1.0]
