import pytest
import torch
from torch.testing import assert_close

import lfds


def shifted_up(torus):
    """A layer whose kernel picks the slot one row up."""
    layer = torus.layer(1)
    with torch.no_grad():
        layer.convolution.weight.zero_()
        layer.convolution.weight[0, 0, 0, 1] = 1
        layer.convolution.bias.zero_()
    return layer.eval()


def test_the_first_row_is_below_the_last_one():
    torus = lfds.Torus(3, 4)
    seen = shifted_up(torus)(torch.arange(12.0).view(1, 12, 1), torus)
    assert seen.flatten().round().tolist() == [8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7]


def test_an_image_does_not_wrap_around():
    torus, image = lfds.Torus(3, 4), lfds.Image(3, 4)
    layer = shifted_up(torus)
    layer.convolution.padding_mode = "zeros"
    slots = torch.arange(12.0).view(1, 12, 1)
    with pytest.raises(AssertionError):
        assert_close(layer(slots, image), shifted_up(torus)(slots, torus))


def test_shifting_around_the_border_shifts_the_output_and_an_image_notices():
    lfds.testing.assert_equivariant(lfds.LFDSPool(4, lfds.Torus(3, 4)))
    torus, image = lfds.Torus(4, 4), lfds.Image(4, 4)
    slots = torch.randn(2, 16, 3)
    for structure, same in ((torus, True), (image, False)):
        layer = structure.layer(3).eval()
        (order,) = (one.order for one in torus.symmetries() if "right" in one.name)
        before, after = layer(slots[:, order], structure), layer(slots, structure)[:, order]
        assert torch.allclose(before, after, atol=1e-5) is same


def test_every_slot_has_four_neighbours_in_the_laplacian():
    laplacian = lfds.Torus(3, 4).laplacian()
    assert laplacian.diagonal().tolist() == [4.0] * 12
    assert_close(laplacian.sum(dim=1), torch.zeros(12))
    assert_close(laplacian, laplacian.T)


@pytest.mark.parametrize(("height", "width", "kernel"), [(1, 8, 5), (8, 2, 7)])
def test_a_kernel_must_not_wrap_around_twice(height, width, kernel):
    with pytest.raises(ValueError, match=r"(height|width) of Torus must be at least"):
        lfds.Torus(height, width, kernel_size=kernel)
