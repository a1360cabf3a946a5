"""A network of the user's own on the latent structure (`latent=`)."""

import copy
import pickle

import pytest
import torch
from tests.nn.cases import STRUCTURES, VARIANTS
from torch import nn
from torch.testing import assert_close

import lfds
from lfds import testing
from lfds.testing.invariants import collate, perturbed_copy, random_graphs

BUILDERS = {**STRUCTURES, **VARIANTS}
every_structure = pytest.mark.parametrize("name", BUILDERS)
X = torch.randn(7, 4, generator=torch.Generator().manual_seed(0))
INDEX = torch.tensor([2, 0, 0, 3, 2, 2, 0])


class Vector(nn.Module):
    """One vector per graph."""

    def __init__(self, structure, channels):
        super().__init__()
        self.linear = nn.Linear(structure.num_slots * channels, 5)

    def forward(self, slots, *matrix):
        for one in matrix:  # an adjacency or a basis
            slots = one @ slots
        return self.linear(slots.flatten(1))


class Map(nn.Module):
    """Slots in the layout of the structure, one fewer along the last side and 3 channels wide."""

    def __init__(self, structure, channels):
        super().__init__()
        self.linear = nn.Linear(channels, 3)
        self.channels_first = structure.channels_first

    def forward(self, slots, *matrix):
        for one in matrix:
            slots = one @ slots
        if self.channels_first:
            return self.linear(slots.movedim(1, -1)).movedim(-1, 1)[..., :-1]
        return self.linear(slots)[:, :-1]


NETWORKS = {"vector": Vector, "map": Map}
every_network = pytest.mark.parametrize("network", NETWORKS)


def build(name, network, channels=4, **options):
    structure = BUILDERS[name]()
    hidden = options.get("hidden_channels", channels)
    return lfds.LFDSPool(
        channels, structure, latent=NETWORKS[network](structure, hidden), **options
    )


@every_structure
def test_the_signal_holds_all_slots(name):
    structure, slots = BUILDERS[name](), torch.randn(2, BUILDERS[name]().num_slots, 3)
    signal, *matrix = structure.signal(slots)
    assert signal.dim() in structure.signal_dims
    rows = signal.flatten(2).mT if structure.channels_first else signal
    assert torch.equal(rows, slots)
    assert all(one.shape == (structure.num_slots, structure.num_slots) for one in matrix)


@every_structure
@every_network
@pytest.mark.parametrize("options", [{}, {"hidden_channels": 3}, {"blend": True}], ids=str)
def test_it_is_run_on_the_slots_and_read(name, network, options):
    pool = perturbed_copy(build(name, network, **options), 4)
    graphs = random_graphs(4, (5, 0, 2))
    slots = torch.stack([testing.reference_slots(pool, graph) for graph in graphs])
    out = pool.latent(*pool.structure.signal(slots))
    if network == "map":
        slot_dims = tuple(range(2, out.dim())) if pool.structure.channels_first else (1,)
        out = torch.cat([out.amax(dim=slot_dims), out.mean(dim=slot_dims)], dim=1)
    assert pool.out_channels == out.shape[1] == {"vector": 5, "map": 6}[network]
    assert_close(pool(*collate(graphs), dim_size=3), out)


@every_structure
@every_network
@pytest.mark.parametrize(
    "check",
    [
        testing.assert_permutation_invariant,
        testing.assert_batch_independent,
        testing.assert_no_cross_graph_gradient,
        testing.assert_empty_graph_finite,
        testing.assert_gradients_correct,
        testing.assert_float32_accurate,
        testing.assert_state_dict_round_trip,
    ],
    ids=lambda check: check.__name__,
)
def test_the_properties_of_a_pooling_hold(check, name, network):
    check(build(name, network))


@every_structure
@every_network
def test_everything_learns(name, network):
    pool = build(name, network, hidden_channels=3, blend=True, anchors="generated")
    # Of three hidden units all may be negative for these nodes, whatever the implementation.
    nn.init.constant_(pool.anchors.hidden.bias, 5.0)
    x = X.clone().requires_grad_()
    (pool(x, INDEX).square().sum() + pool.penalty()).backward()
    assert x.grad.abs().sum() > 0
    idle = [key for key, value in pool.named_parameters() if not value.grad.abs().sum() > 0]
    assert idle == []
    assert len(pool.layers) == len(pool.weights) == 0


@every_structure
@every_network
def test_copies_pickles_and_batches_without_graphs(name, network):
    pool = build(name, network)
    vectors = pool(torch.zeros(0, 4), torch.zeros(0).long())
    assert vectors.shape == (0, pool.out_channels)
    for twin in (copy.deepcopy(pool.eval()), pickle.loads(pickle.dumps(pool.eval()))):
        assert torch.equal(twin(X, INDEX), pool(X, INDEX))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
@every_structure
def test_other_precisions(name, dtype):
    pool = build(name, "map").to(dtype)
    assert pool(X.to(dtype), INDEX).dtype == dtype
    ready = Map(pool.structure, 4).to(dtype)  # in another precision before it is given
    assert lfds.LFDSPool(4, pool.structure, latent=ready).out_channels == 6


class Block(nn.Module):
    """Two convolutions with batch norms, and what came in added."""

    def __init__(self, in_channels, out_channels, stride):
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
        )
        self.shortcut = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, 1, stride, bias=False),
            nn.BatchNorm2d(out_channels),
        )

    def forward(self, image):
        return torch.relu(self.convolutions(image) + self.shortcut(image))


def residual_network(*, vector):
    """A residual network as in torchvision, with or without average pooling and a last layer."""
    layers = [Block(4, 6, 1), Block(6, 8, 2)]
    if vector:
        layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)]
    return nn.Sequential(*layers)


@pytest.mark.parametrize(("vector", "width"), [(True, 5), (False, 16)])
def test_a_residual_network_on_the_latent_image(vector, width):
    pool = lfds.LFDSPool(4, lfds.Image(8, 8), latent=residual_network(vector=vector))
    assert pool.out_channels == width
    testing.assert_permutation_invariant(pool)
    testing.assert_batch_independent(pool)
    testing.assert_no_cross_graph_gradient(pool)
    testing.assert_empty_graph_finite(pool)
    before = pool.latent[0].convolutions[1].running_mean.clone()
    pool(X, INDEX).square().sum().backward()
    assert not torch.equal(pool.latent[0].convolutions[1].running_mean, before)
    assert all(parameter.grad is not None for parameter in pool.parameters())


@every_structure
def test_the_signal_is_contiguous(name):
    class Views(nn.Module):
        def forward(self, *signal):
            assert all(part.is_contiguous() for part in signal)
            return signal[0].view(len(signal[0]), -1)

    pool = lfds.LFDSPool(4, BUILDERS[name](), latent=Views())
    assert pool(X, INDEX).shape == (4, 4 * pool.structure.num_slots)


def test_it_learns_what_max_pooling_cannot():
    """Which of two sorts of points is in the majority?"""
    sorts, majority = torch.eye(4)[:2] * 3, torch.arange(64) % 2
    members = torch.stack([(torch.arange(9) < 6).long() ^ label for label in majority])
    x = (sorts[members] + 0.1 * torch.randn(64, 9, 4)).flatten(0, 1)
    index = torch.arange(64).repeat_interleave(9)
    pool = lfds.LFDSPool(4, lfds.Image(8, 8), latent=residual_network(vector=True))
    head = nn.Linear(pool.out_channels, 2)
    optimizer = torch.optim.Adam([*pool.parameters(), *head.parameters()], lr=0.01)
    for _ in range(30):
        loss = nn.functional.cross_entropy(head(pool(x, index)), majority)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert (head(pool(x, index)).argmax(dim=1) == majority).float().mean() > 0.95


def test_the_network_is_left_as_it_is():
    network = residual_network(vector=True)
    network[0].convolutions[1].eval()
    state = copy.deepcopy(network.state_dict())
    modes = [module.training for module in network.modules()]
    generator = torch.get_rng_state()
    pool = lfds.LFDSPool(
        4, lfds.Image(8, 8), anchors=torch.zeros(64, 4), readout="max", latent=network
    )
    assert pool.latent is network
    assert [module.training for module in network.modules()] == modes
    assert_close(network.state_dict(), state)
    assert torch.equal(torch.get_rng_state(), generator)


def test_reset_reaches_every_layer_of_the_network():
    pool = lfds.LFDSPool(4, lfds.Image(8, 8), latent=residual_network(vector=True))
    before = {key: value.clone() for key, value in pool.latent.named_parameters()}
    pool.reset_parameters()
    weights = [key for key in before if before[key].dim() > 1]
    assert not any(torch.equal(before[key], pool.latent.get_parameter(key)) for key in weights)


def test_layers_that_find_their_width_themselves():
    network = nn.Sequential(nn.LazyConv2d(6, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(5))
    pool = lfds.LFDSPool(4, lfds.Image(4, 4), latent=network)
    assert network[0].weight.shape == (6, 4, 3, 3)
    assert pool(X, INDEX).shape == (4, 5)


def test_repr():
    pool = lfds.LFDSPool(4, lfds.Image(8, 8), latent=nn.Conv2d(4, 6, 3))
    assert repr(pool) == "LFDSPool(4 -> 12, Image(8x8 slots), latent=Conv2d, reduction='mean')"


class Returns(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.make = make

    def forward(self, *signal):
        return self.make(*signal)


WRONG = {
    "no dimensions": (
        lambda *signal: signal[0].sum(),
        r"one vector per graph .*, got a tensor \[\]",
    ),
    "one dimension": (lambda *signal: signal[0].flatten(), r"one vector per graph .* got a tensor"),
    "five dimensions": (
        lambda *signal: signal[0].view(2, 2, 2, 2, -1),
        r"one vector per graph .* got a tensor \[2, 2, 2, 2, ",
    ),
    "a tuple": (lambda *signal: (signal[0], None), "one vector per graph .* got tuple"),
    "nothing": (lambda *signal: None, "one vector per graph .* got NoneType"),
    "one row": (lambda *signal: signal[0].flatten(1)[:1], "each of the 2 graphs, got 1"),
    "too many arguments": (lambda *, signal: signal, "does not run on .* with 4 channels: "),
    "an index": (lambda *signal: signal[9], "does not run on .*: tuple index out of range"),
    "two lines": (
        lambda *signal: signal[0].reshape(3, 5),
        "does not run on .*: shape '.*' is invalid",
    ),
}


@every_structure
@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_outputs_are_refused_in_one_line(name, wrong):
    make, message = WRONG[wrong]
    with pytest.raises(ValueError, match=f"^latent .*{message}") as refused:
        lfds.LFDSPool(4, BUILDERS[name](), latent=Returns(make))
    assert "\n" not in str(refused.value)


def test_a_network_for_another_width_or_structure_is_refused_in_one_line():
    with pytest.raises(ValueError, match=r"Image\(4x4 slots\) with 4 channels: .*expected input"):
        lfds.LFDSPool(4, lfds.Image(4, 4), latent=nn.Conv2d(5, 3, 3))
    with pytest.raises(ValueError, match=r"Loop\(5 slots\) with 4 channels: .*positional"):
        lfds.LFDSPool(4, lfds.Loop(5), latent=nn.Conv2d(4, 3, 3))
    with pytest.raises(ValueError, match="with 3 channels"):
        lfds.LFDSPool(4, lfds.Image(4, 4), hidden_channels=3, latent=nn.Conv2d(4, 3, 3))


@pytest.mark.plain
@pytest.mark.parametrize(
    ("latent", "message"),
    [(lambda image: image, "got function"), (nn.Identity, "got the class Identity")],
)
def test_what_is_no_module_is_refused(latent, message):
    with pytest.raises(TypeError, match=f"^latent must be a torch.nn.Module, {message}"):
        lfds.LFDSPool(4, lfds.Image(4, 4), latent=latent)


def test_there_are_no_activations_to_read():
    pool = lfds.LFDSPool(4, lfds.Image(4, 4), latent=nn.Conv2d(4, 3, 3))
    assert pool.shares(X, INDEX).shape == (7, 16)
    for read in (pool.activations, pool.picks):
        with pytest.raises(ValueError, match="latent"):
            read(X, INDEX)
