from threading import Thread

import pytest
import torch
from tests.train.small import make, trained, weights
from torch import nn

from lfds.nn import GraphNetwork, NetworkSettings
from lfds.nn.randomness import Dropout, draw_from, draws_of_others, initialize_from, uniform

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def global_generator():
    """Nothing here may draw from the global generator, or seed it."""
    before = torch.get_rng_state()
    yield
    assert torch.equal(torch.get_rng_state(), before)


def global_draws(seed, draw):
    """Return what was drawn before there were streams: from the seeded global generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return draw()


def test_a_stream_draws_what_the_global_generator_with_its_seed_draws():
    x = torch.ones(50, 7)
    expected = global_draws(5, lambda: (torch.rand(3, 2), nn.Dropout(0.3)(x)))
    with draw_from(5):
        found = uniform((3, 2), CPU), Dropout(0.3)(x)
    assert all(torch.equal(a, b) for a, b in zip(expected, found, strict=True))


@pytest.mark.parametrize("pool", ["loop", "learned-spectral", "gmt", "set-transformer", "topk"])
def test_initial_weights_are_those_of_the_seeded_global_generator(pool):
    settings = NetworkSettings(pool=pool, width=8, head_width=8, slots=4)
    expected = global_draws(3, lambda: GraphNetwork(5, 2, settings)).state_dict()
    with initialize_from(3):
        found = GraphNetwork(5, 2, settings).state_dict()
    assert all(torch.equal(value, found[name]) for name, value in expected.items())


@pytest.mark.parametrize(
    "draw",
    [
        lambda: torch.rand(3),
        lambda: torch.randn(2, 2),
        lambda: torch.randperm(9),
        lambda: torch.randint(100, (4,)),
        lambda: torch.rand_like(torch.ones(3)),
        lambda: torch.empty(4).normal_(),
        lambda: nn.functional.dropout(torch.ones(40)),
        lambda: torch.multinomial(torch.ones(9), 3),
    ],
)
def test_operations_of_others_draw_from_the_stream(draw):
    expected = global_draws(8, draw)
    with draw_from(8), draws_of_others():
        assert torch.equal(draw(), expected)


def test_gradients_of_dropout_are_those_of_its_mask():
    x = torch.ones(30, requires_grad=True)
    with draw_from(1):
        y = Dropout(0.5)(x)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())
    assert torch.equal(Dropout(0.5).eval()(x), x)


class _Disturbed(nn.Module):
    """A loss during which another thread seeds and draws from the global generator."""

    def __init__(self, objective):
        super().__init__()
        self._objective = objective

    def loss(self, *arguments):
        with torch.random.fork_rng(devices=[]):
            thread = Thread(target=lambda: (torch.manual_seed(0), torch.rand(7)))
            thread.start()
            thread.join()
            return self._objective.loss(*arguments)

    def __getattr__(self, name):
        return getattr(super().__getattribute__("_objective"), name)


def test_what_other_threads_draw_changes_no_bit_of_a_training():
    with torch.random.fork_rng(devices=[]):
        expected, training = trained(), make()
        training.objective = _Disturbed(training.objective)
        training.run(lambda _: torch.manual_seed(1))
    assert torch.equal(weights(training), weights(expected))


def test_trainings_in_two_threads_are_those_of_one():
    def run(found, seed):
        with initialize_from(seed):
            training = make_without_seed(seed)
        training.run(lambda _: None)
        found[seed] = weights(training)

    alone, together = {}, {}
    for seed in (0, 1):
        run(alone, seed)
    threads = [Thread(target=run, args=(together, seed)) for seed in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(alone[seed], together[seed]) for seed in (0, 1))
    assert not torch.equal(alone[0], alone[1])


def make_without_seed(seed):
    model = GraphNetwork(3, 2, NetworkSettings(pool="loop", width=8, head_width=8, slots=4))
    with torch.random.fork_rng(devices=[]):
        made = make(seed=seed)
    made.model.load_state_dict(model.state_dict())
    return made
