"""Assertions that hold for every correct pooling, whatever it is made of."""

import copy
from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.autograd.gradcheck import GradcheckError, gradcheck
from torch.testing import assert_close

from lfds.nn import LFDSPool

SIZES = (5, 1, 9, 2)


class Pooling(Protocol):
    """Anything that is called like a PyG ``Aggregation``."""

    def __call__(self, x: Tensor, index: Tensor, *, dim_size: int) -> Tensor: ...


def assert_permutation_invariant(
    pool: Pooling,
    graphs: Sequence[Tensor] | None = None,
    *,
    channels: int | None = None,
    sorted_index: bool = False,
    seed: int = 0,
) -> None:
    """Assert that the vector of a graph does not depend on the order of its nodes.

    Args:
        pool: The pooling to test.
        graphs: Node features of some graphs, [nodes, channels] each; random by default.
        channels: Width of random graphs; by default ``pool.in_channels``.
        sorted_index: Keep each graph's nodes together, for poolings that need a sorted ``index``.
        seed: Seed of the random graphs and of the permutation.
    """
    graphs = graphs_or_random(pool, graphs, channels, seed)
    trial = perturbed_copy(pool, graphs[0].shape[1])
    x, index = collate(graphs)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    if sorted_index:
        order = order[index[order].argsort(stable=True)]
    expected = trial(x, index, dim_size=len(graphs))
    actual = trial(x[order], index[order], dim_size=len(graphs))
    assert_close(actual, expected, msg=prefix("the vector depends on the order of the nodes"))


def assert_batch_independent(
    pool: Pooling,
    graphs: Sequence[Tensor] | None = None,
    *,
    channels: int | None = None,
    seed: int = 0,
) -> None:
    """Assert that a graph has the same vector alone and in any batch, in evaluation mode."""
    graphs = graphs_or_random(pool, graphs, channels, seed)
    trial = perturbed_copy(pool, graphs[0].shape[1])
    together = trial(*collate(graphs), dim_size=len(graphs))
    for position, graph in enumerate(graphs):
        alone = trial(*collate([graph]), dim_size=1)
        message = f"the vector of graph {position} depends on its batch"
        assert_close(together[position], alone[0], msg=prefix(message))


def assert_no_cross_graph_gradient(
    pool: Pooling,
    graphs: Sequence[Tensor] | None = None,
    *,
    channels: int | None = None,
    seed: int = 0,
) -> None:
    """Assert that the vector of a graph has no gradient with respect to nodes of other graphs."""
    graphs = graphs_or_random(pool, graphs, channels, seed)
    trial = perturbed_copy(pool, graphs[0].shape[1])
    x, index = collate(graphs)
    x.requires_grad_()
    pooled = trial(x, index, dim_size=len(graphs))
    if not pooled.requires_grad:
        return  # no gradient at all
    for graph in range(len(graphs)):
        (grad,) = torch.autograd.grad(pooled[graph].sum(), x, retain_graph=True)
        stray = grad[index != graph].abs()
        if stray.numel() and not float(stray.max()) <= 0:  # NaN is caught, too
            raise AssertionError(
                f"the vector of graph {graph} has gradients of up to {float(stray.max()):.3g} "
                "with respect to nodes of other graphs"
            )


def assert_empty_graph_finite(pool: Pooling, *, channels: int | None = None) -> None:
    """Assert that graphs without nodes have finite vectors and finite gradients."""
    width = graphs_or_random(pool, None, channels, 0)[0].shape[1]
    trial = perturbed_copy(pool, width)
    for sizes in ((3, 0, 2), (0,), (0, 0, 1)):
        x, index = collate(random_graphs(width, sizes))
        x.requires_grad_()
        pooled = trial(x, index, dim_size=len(sizes))
        if pooled.shape[0] != len(sizes):
            raise AssertionError(f"{len(sizes)} graphs gave {pooled.shape[0]} vectors")
        (grad,) = torch.autograd.grad(pooled.sum(), x)
        if not (pooled.isfinite().all() and grad.isfinite().all()):
            raise AssertionError(f"a graph without nodes is not finite, among sizes {sizes}")


def assert_gradients_correct(
    pool: Pooling,
    graphs: Sequence[Tensor] | None = None,
    *,
    channels: int | None = None,
    seed: int = 0,
) -> None:
    """Assert that the gradients of nodes and parameters agree with finite differences."""
    graphs = graphs_or_random(pool, graphs, channels, seed)
    trial = perturbed_copy(pool, graphs[0].shape[1])
    x, index = collate(graphs)
    named = dict(trial.named_parameters()) if isinstance(trial, nn.Module) else {}

    def pooled(x: Tensor, *values: Tensor) -> Tensor:
        if not isinstance(trial, nn.Module):
            return trial(x, index, dim_size=len(graphs))
        parameters = dict(zip(named, values, strict=True))
        result: Tensor = torch.func.functional_call(
            trial, parameters, (x, index), {"dim_size": len(graphs)}
        )
        return result

    inputs = (x.requires_grad_(), *(value.detach().requires_grad_() for value in named.values()))
    try:
        # Random directions instead of every single entry: as sharp, and far quicker.
        gradcheck(pooled, inputs, fast_mode=True)
    except GradcheckError as error:
        raise AssertionError(f"the gradients are wrong: {error}") from None


def assert_float32_accurate(
    pool: Pooling,
    graphs: Sequence[Tensor] | None = None,
    *,
    channels: int | None = None,
    seed: int = 0,
    tolerance: float = 1e-4,
) -> None:
    """Assert that float32 agrees with float64, up to ``tolerance`` of the largest value."""
    graphs = graphs_or_random(pool, graphs, channels, seed)
    trial = perturbed_copy(pool, graphs[0].shape[1])
    x, index = collate(graphs)
    expected = trial(x, index, dim_size=len(graphs)).detach()
    if isinstance(trial, nn.Module):
        trial = copy.deepcopy(trial).float()
    actual = trial(x.float(), index, dim_size=len(graphs)).detach()
    if actual.dtype != torch.float32:
        raise AssertionError(f"float32 nodes gave {actual.dtype} vectors")
    error = float((actual.double() - expected).abs().max() / expected.abs().max())
    if not error <= tolerance:
        raise AssertionError(f"float32 is off by {error:.3g} of the largest value")


def assert_state_dict_round_trip(
    pool: nn.Module, *, channels: int | None = None, seed: int = 0
) -> None:
    """Assert that a pooling, reset and loaded with its own ``state_dict``, pools as before."""
    graphs = graphs_or_random(pool, None, channels, seed)
    trial = perturbed_copy(pool, graphs[0].shape[1])
    if not isinstance(trial, nn.Module):
        raise TypeError(f"only a module has a state_dict, got {type(pool).__name__}")
    loaded = copy.deepcopy(trial)
    reset = getattr(loaded, "reset_parameters", None)
    if reset is None:
        raise AssertionError(f"{type(pool).__name__} has no reset_parameters")
    reset()
    x, index = collate(graphs)
    expected = trial(x, index, dim_size=len(graphs))
    # Otherwise the copy would pool as before without having loaded anything.
    if trial.state_dict() and torch.equal(loaded(x, index, dim_size=len(graphs)), expected):
        raise AssertionError(f"reset_parameters of {type(pool).__name__} changes nothing")
    loaded.load_state_dict(trial.state_dict())
    message = prefix("the vectors differ after a round trip through state_dict")
    assert_close(loaded(x, index, dim_size=len(graphs)), expected, rtol=0, atol=0, msg=message)


def assert_equivariant(pool: LFDSPool, *, seed: int = 0) -> None:
    """Assert that every latent layer is equivariant to the symmetries of the structure.

    Permuting the slots by a symmetry, before or after a layer, must give the same slots. The
    structure names its symmetries itself (``pool.structure.symmetries()``).
    """
    if not isinstance(pool, LFDSPool):
        raise TypeError(f"only an LFDSPool has a structure, got {type(pool).__name__}")
    if pool.latent is not None:
        raise TypeError("an LFDSPool with latent= has no latent layers of its own to check")
    trial = perturbed_copy(pool, pool.in_channels)
    assert isinstance(trial, LFDSPool)
    symmetries = list(trial.structure.symmetries())
    if not symmetries:
        raise AssertionError(f"{trial.structure} is too small to have a symmetry to check")
    generator = torch.Generator().manual_seed(seed)
    shape = (2, trial.structure.num_slots, trial.hidden_channels)
    for symmetry in symmetries:
        slots = torch.randn(shape, dtype=torch.float64, generator=generator)
        if symmetry.support is not None:
            slots = slots * symmetry.support[:, None]
        for depth, layer in enumerate(trial.layers):
            before = layer(slots[:, symmetry.order], symmetry.image)
            after = layer(slots, trial.structure)[:, symmetry.order]
            message = f"layer {depth} of {trial.structure} is not equivariant: {symmetry.name}"
            assert_close(before, after, msg=prefix(message))


def collate(graphs: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return the nodes of all graphs, graph after graph, and the graph of each."""
    sizes = torch.tensor([len(graph) for graph in graphs])
    return torch.cat(list(graphs)), torch.repeat_interleave(sizes)


def random_graphs(channels: int, sizes: Sequence[int] = SIZES, *, seed: int = 0) -> list[Tensor]:
    """Return random node features of graphs of the given sizes, in float64."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(size, channels, dtype=torch.float64, generator=generator) for size in sizes]


def graphs_or_random(
    pool: Pooling, graphs: Sequence[Tensor] | None, channels: int | None, seed: int
) -> list[Tensor]:
    """Return the given graphs in float64, or random ones as wide as the pooling."""
    if graphs is not None:
        return [graph.double() for graph in graphs]
    channels = getattr(pool, "in_channels", None) if channels is None else channels
    if channels is None:
        raise ValueError(f"{type(pool).__name__} has no in_channels; pass channels= or graphs=")
    return random_graphs(channels, seed=seed)


def perturbed_copy(pool: Pooling, channels: int) -> Pooling:
    """Return a copy in float64 and evaluation mode, with perturbed parameters and statistics.

    Many parameters are initialized to exactly zero or one, and running statistics are trivial at
    first: errors could hide there, and slots that tie have no gradient that could be checked.
    """
    if not isinstance(pool, nn.Module):
        return pool
    trial = copy.deepcopy(pool).double().train()
    generator = torch.Generator().manual_seed(1)
    x, index = collate(random_graphs(channels, (40, 30), seed=1))
    # Dropout draws from torch's own generator: on a fork of it, the caller's is left alone.
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for parameter in trial.parameters():
            noise = torch.randn(parameter.shape, dtype=torch.float64, generator=generator)
            parameter.add_(0.1 * noise)
        trial(x, index, dim_size=2)
    return trial.eval()


def prefix(message: str) -> Callable[[str], str]:
    """Put a message before that of ``torch.testing.assert_close``."""
    return lambda details: f"{message}\n{details}"
