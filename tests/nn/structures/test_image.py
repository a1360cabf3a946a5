import pytest
import torch

import lfds


def test_slots_are_in_row_order():
    image = lfds.Image(3, 4)
    layer = image.layer(1)
    with torch.no_grad():
        layer.convolution.weight.zero_()
        layer.convolution.weight[0, 0, 0, 1] = 1  # the pixel one row up
        layer.convolution.bias.zero_()
    seen = layer.eval()(torch.arange(12.0).view(1, 12, 1), image)
    assert seen.flatten().round().tolist() == [0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7]


def test_kernel_of_another_size():
    layer = lfds.Image(6, 5, kernel_size=5).layer(2)
    assert layer.convolution.kernel_size == (5, 5)
    assert layer(torch.randn(3, 30, 2), lfds.Image(6, 5)).shape == (3, 30, 2)


@pytest.mark.parametrize("kernel_size", [0, 2, -1])
def test_a_kernel_without_a_centre_is_refused(kernel_size):
    with pytest.raises(ValueError, match=r"kernel_size must be (odd|at least 1)"):
        lfds.Image(8, 8, kernel_size=kernel_size)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (0, 8), (-2, -2)])
def test_too_small_images_are_refused(height, width):
    with pytest.raises(ValueError, match=r"Image must be at least [12], got"):
        lfds.Image(height, width)


@pytest.mark.plain
@pytest.mark.parametrize("size", ["8", 8.0, (8, 8), True])
def test_sizes_must_be_integers(size):
    with pytest.raises(TypeError, match="height of Image must be an integer"):
        lfds.Image(size, 8)
    with pytest.raises(TypeError, match="kernel_size must be an integer"):
        lfds.Image(8, 8, kernel_size=size)


def test_small_images_have_fewer_symmetries():
    assert [len(list(lfds.Image(3, width).symmetries())) for width in (3, 4)] == [0, 1]
    assert len(list(lfds.Image(4, 4).symmetries())) == 2


def test_the_signal_is_an_image():
    slots = torch.randn(2, 12, 5)
    (image,) = lfds.Image(3, 4).signal(slots)
    assert image.shape == (2, 5, 3, 4)
    assert torch.equal(image[1, 2, 1, 3], slots[1, 1 * 4 + 3, 2])


def test_repr():
    assert repr(lfds.Image()) == "Image(8x8 slots)"
