import pytest
import torch

from lfds.nn import GraphNetwork, NetworkSettings
from lfds.train.ema import EMA


def model():
    torch.manual_seed(0)
    return GraphNetwork(3, 2, NetworkSettings(pool="max", width=4, head_width=4))


def after_epochs(decay, epochs=4):
    """Return the average over some epochs, and the weights of each."""
    trained = model()
    averaged, seen = EMA(trained, decay), []
    for epoch in range(epochs):
        torch.manual_seed(epoch)
        for value in trained.state_dict().values():
            value.copy_(10 * torch.rand(value.shape))
        averaged.update()
        seen.append({name: value.clone() for name, value in trained.state_dict().items()})
    return averaged, seen


@pytest.mark.parametrize("decay", [0.5, 0.8])
def test_the_average_is_the_weighted_sum_of_its_definition(decay):
    averaged, seen = after_epochs(decay, epochs=7)
    shares = [1.0]
    for epoch in range(2, 8):
        rate = max(1 - decay, 1 / epoch)
        shares = [share * (1 - rate) for share in shares] + [rate]
    assert sum(shares) == pytest.approx(1)
    for name, value in averaged.model.state_dict().items():
        if value.is_floating_point():
            expected = sum(share * one[name] for share, one in zip(shares, seen, strict=True))
            torch.testing.assert_close(value, expected)
        else:
            assert value == seen[-1][name]


def test_the_first_epochs_have_equal_weights():
    averaged, seen = after_epochs(0.8, epochs=4)
    for name, value in averaged.model.named_parameters():
        torch.testing.assert_close(value, sum(one[name] for one in seen) / 4)


def test_with_decay_0_the_average_is_the_model_itself():
    trained = model()
    averaged = EMA(trained, 0.0)
    averaged.update()
    averaged.load_state_dict({}, 3)
    assert averaged.model is trained
    assert averaged.state_dict() == {}


def test_the_trained_model_and_the_global_generator_are_unchanged():
    trained = model()
    before = {name: value.clone() for name, value in trained.state_dict().items()}
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    averaged = EMA(trained, 0.9)
    averaged.update()
    assert torch.equal(torch.rand(1), expected)
    assert all(torch.equal(value, before[name]) for name, value in trained.state_dict().items())
    assert all(parameter.requires_grad for parameter in trained.parameters())
    assert not any(parameter.requires_grad for parameter in averaged.model.parameters())


def test_a_restored_average_continues_as_before():
    first, seen = after_epochs(0.8, epochs=2)
    trained = model()
    second = EMA(trained, 0.8)
    assert second.state_dict() == {}
    second.load_state_dict({name: value.clone() for name, value in first.state_dict().items()}, 2)
    trained.load_state_dict(seen[0])
    second.update()
    first._trained.load_state_dict(seen[0])
    first.update()
    for name, value in first.state_dict().items():
        assert torch.equal(second.state_dict()[name], value)
