import pytest
import torch

from lfds.nn.slot_modules import SlotDropout, drop_slots


def test_whole_slots_are_dropped_and_the_rest_left_as_it_was():
    slots = torch.rand(200, 10, 3) + 1
    dropped = drop_slots(slots, 0.4)
    silent = (dropped == 0).all(dim=-1)
    # Not one value scaled up: the usual 1 / (1 - p) would shift training from testing.
    assert torch.equal(dropped[~silent], slots[~silent])
    assert 0.36 < float(silent.float().mean()) < 0.44
    assert len({tuple(row.tolist()) for row in silent}) > 100  # each graph draws its own


def test_only_in_training():
    dropout = SlotDropout(0.5)
    slots = torch.ones(4, 8, 2)
    assert (dropout(slots) == 0).any()
    assert torch.equal(dropout.eval()(slots), slots)
    assert torch.equal(SlotDropout(0.0)(slots), slots)


@pytest.mark.parametrize("p", [-0.1, 1.0, float("nan")])
def test_impossible_probabilities_are_refused(p):
    with pytest.raises(ValueError, match="slot_dropout must be at least 0 and below 1"):
        SlotDropout(p)
