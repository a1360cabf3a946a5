import pytest
import torch

import lfds


def test_an_array_distinguishes_left_and_right():
    array = lfds.Array(6)
    layer = array.layer(2).eval()
    slots = torch.randn(1, 6, 2)
    assert not torch.allclose(layer(slots.flip(1), array), layer(slots, array).flip(1))


def test_kernel_size():
    assert lfds.Array(9, kernel_size=7).layer(2).convolution.kernel_size == (7,)
    with pytest.raises(ValueError, match="kernel_size must be odd"):
        lfds.Array(9, kernel_size=4)


def test_the_signal_has_channels_before_slots():
    slots = torch.randn(2, 6, 3)
    (signal,) = lfds.Array(6).signal(slots)
    assert signal.shape == (2, 3, 6)
    assert torch.equal(signal[1, 2], slots[1, :, 2])


def test_short_arrays_have_no_symmetry():
    assert list(lfds.Array(3).symmetries()) == []
