"""The laws that hold for every pooling, whatever it is made of."""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.autograd.gradcheck import GradcheckError, gradcheck
from torch.testing import assert_close

from lfds.testing.trial import Pooling, after, collate, draw_graphs, graphs_for, ready


def assert_order_free(
    pool: Pooling,
    graphs: Sequence[Tensor] | None = None,
    *,
    channels: int | None = None,
    sorted_index: bool = False,
    seed: int = 0,
) -> None:
    """A graph must be pooled alike in whatever order its nodes come.

    Args:
        pool: The pooling to try.
        graphs: Node features of some graphs, [nodes, channels] each; drawn by default.
        channels: Width of the graphs to draw; by default ``pool.in_channels``.
        sorted_index: Keep each graph's nodes together, for poolings that need that.
        seed: Seed of the graphs drawn and of the order tried.
    """
    graphs = graphs_for(pool, graphs, channels, seed)
    trial = ready(pool, graphs[0].shape[1])
    x, index = collate(graphs)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    if sorted_index:
        order = order[index[order].argsort(stable=True)]
    expected = trial(x, index, dim_size=len(graphs))
    actual = trial(x[order], index[order], dim_size=len(graphs))
    assert_close(actual, expected, msg=after("the vector depends on the order of the nodes"))


def assert_company_free(
    pool: Pooling,
    graphs: Sequence[Tensor] | None = None,
    *,
    channels: int | None = None,
    seed: int = 0,
) -> None:
    """A graph must be pooled alike alone and in any company, once training is over."""
    graphs = graphs_for(pool, graphs, channels, seed)
    trial = ready(pool, graphs[0].shape[1])
    together = trial(*collate(graphs), dim_size=len(graphs))
    for position, graph in enumerate(graphs):
        alone = trial(*collate([graph]), dim_size=1)
        message = f"graph {position} changes with its batch"
        assert_close(together[position], alone[0], msg=after(message))


def assert_isolated(
    pool: Pooling,
    graphs: Sequence[Tensor] | None = None,
    *,
    channels: int | None = None,
    seed: int = 0,
) -> None:
    """The vector of a graph must pull on no node of another graph."""
    graphs = graphs_for(pool, graphs, channels, seed)
    trial = ready(pool, graphs[0].shape[1])
    x, index = collate(graphs)
    x.requires_grad_()
    pooled = trial(x, index, dim_size=len(graphs))
    if not pooled.requires_grad:
        return  # nothing pulls on anything
    for graph in range(len(graphs)):
        (pull,) = torch.autograd.grad(pooled[graph].sum(), x, retain_graph=True)
        stray = pull[index != graph].abs()
        if stray.numel() and not float(stray.max()) <= 0:  # NaN is caught, too
            raise AssertionError(
                f"the vector of graph {graph} pulls on nodes of other graphs, "
                f"by up to {float(stray.max()):.3g}"
            )


def assert_empty_graph_finite(pool: Pooling, *, channels: int | None = None) -> None:
    """Graphs without nodes must have finite vectors and leave finite gradients."""
    graphs = graphs_for(pool, None, channels, 0)
    width = graphs[0].shape[1]
    trial = ready(pool, width)
    for sizes in ((3, 0, 2), (0,), (0, 0, 1)):
        x, index = collate(draw_graphs(width, sizes))
        x.requires_grad_()
        pooled = trial(x, index, dim_size=len(sizes))
        if pooled.shape[0] != len(sizes):
            raise AssertionError(f"{len(sizes)} graphs gave {pooled.shape[0]} vectors")
        (pull,) = torch.autograd.grad(pooled.sum(), x)
        if not (pooled.isfinite().all() and pull.isfinite().all()):
            raise AssertionError(f"a graph without nodes is not finite, among sizes {sizes}")


def assert_gradients_right(
    pool: Pooling,
    graphs: Sequence[Tensor] | None = None,
    *,
    channels: int | None = None,
    seed: int = 0,
) -> None:
    """The gradients, of nodes and parameters, must be those found by small differences."""
    graphs = graphs_for(pool, graphs, channels, seed)
    trial = ready(pool, graphs[0].shape[1])
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


def assert_precise(
    pool: Pooling,
    graphs: Sequence[Tensor] | None = None,
    *,
    channels: int | None = None,
    seed: int = 0,
    tolerance: float = 1e-4,
) -> None:
    """float32 must give what float64 gives, up to ``tolerance`` of the largest value."""
    graphs = graphs_for(pool, graphs, channels, seed)
    trial = ready(pool, graphs[0].shape[1])
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


def assert_state_round_trip(pool: nn.Module, *, channels: int | None = None, seed: int = 0) -> None:
    """A pooling reset and loaded with another's ``state_dict`` must be that other."""
    graphs = graphs_for(pool, None, channels, seed)
    trial = ready(pool, graphs[0].shape[1])
    if not isinstance(trial, nn.Module):
        raise TypeError(f"only a module has a state_dict, got {type(pool).__name__}")
    twin = copy.deepcopy(trial)
    reset = getattr(twin, "reset_parameters", None)
    if reset is None:
        raise AssertionError(f"{type(pool).__name__} has no reset_parameters")
    reset()
    x, index = collate(graphs)
    expected = trial(x, index, dim_size=len(graphs))
    # Otherwise the twin would be right without having loaded anything.
    if trial.state_dict() and torch.equal(twin(x, index, dim_size=len(graphs)), expected):
        raise AssertionError(f"reset_parameters of {type(pool).__name__} changes nothing")
    twin.load_state_dict(trial.state_dict())
    message = after("the vectors differ after a round trip through state_dict")
    assert_close(twin(x, index, dim_size=len(graphs)), expected, rtol=0, atol=0, msg=message)
