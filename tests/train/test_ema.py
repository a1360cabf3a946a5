import pytest
import torch

from lfds.nn import GraphNetwork, NetworkSettings
from lfds.train.ema import Averaged


def model():
    torch.manual_seed(0)
    return GraphNetwork(3, 2, NetworkSettings(pool="max", width=4, head_width=4))


def after_epochs(kept, epochs=4):
    """Return a mean over some epochs, and the weights of each."""
    trained = model()
    averaged, seen = Averaged(trained, kept), []
    for epoch in range(epochs):
        torch.manual_seed(epoch)
        for value in trained.state_dict().values():
            value.copy_(10 * torch.rand(value.shape))
        averaged.take_in()
        seen.append({name: value.clone() for name, value in trained.state_dict().items()})
    return averaged, seen


@pytest.mark.parametrize("kept", [0.5, 0.8])
def test_the_mean_is_the_sum_it_is_said_to_be(kept):
    averaged, seen = after_epochs(kept, epochs=7)
    shares = [1.0]
    for epoch in range(2, 8):
        pace = max(1 - kept, 1 / epoch)
        shares = [share * (1 - pace) for share in shares] + [pace]
    assert sum(shares) == pytest.approx(1)
    for name, value in averaged.model.state_dict().items():
        if value.is_floating_point():
            expected = sum(share * one[name] for share, one in zip(shares, seen, strict=True))
            torch.testing.assert_close(value, expected)
        else:
            assert value == seen[-1][name]


def test_at_first_it_is_the_plain_mean():
    averaged, seen = after_epochs(0.8, epochs=4)
    for name, value in averaged.model.named_parameters():
        torch.testing.assert_close(value, sum(one[name] for one in seen) / 4)


def test_without_averaging_it_is_the_model_itself():
    trained = model()
    averaged = Averaged(trained, 0.0)
    averaged.take_in()
    assert averaged.model is trained
    assert averaged.state() == {}


def test_the_model_and_the_generator_are_left_alone():
    trained = model()
    before = {name: value.clone() for name, value in trained.state_dict().items()}
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    averaged = Averaged(trained, 0.9)
    averaged.take_in()
    assert torch.equal(torch.rand(1), expected)
    assert all(torch.equal(value, before[name]) for name, value in trained.state_dict().items())
    assert all(parameter.requires_grad for parameter in trained.parameters())
    assert not any(parameter.requires_grad for parameter in averaged.model.parameters())


def test_it_goes_on_from_where_it_was():
    first, seen = after_epochs(0.8, epochs=2)
    trained = model()
    second = Averaged(trained, 0.8)
    assert second.state() == {}
    second.restore({name: value.clone() for name, value in first.state().items()}, 2)
    trained.load_state_dict(seen[0])
    second.take_in()
    first._trained.load_state_dict(seen[0])
    first.take_in()
    for name, value in first.state().items():
        assert torch.equal(second.state()[name], value)
