"""The Triton kernels in triton's interpreter, against the CPU backend; run by ``test_triton.py``.

Not collected by name: ``TRITON_INTERPRET=1`` has to be set before triton is imported, and nothing
else should see it.
"""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.nn import LFDSPool, distribute
from lfds.nn.accel import tiles, triton_distribute
from lfds.nn.accel.dispatch import use_backend
from lfds.nn.ops.distribute_device import distribute_on_device
from lfds.nn.ops.segment import ragged_max

SIZES = st.lists(st.sampled_from([0, 1, 3, 31, 33, 70]), min_size=1, max_size=4)
EXACT = {"rtol": 1e-4, "atol": 1e-5}


def boundaries(sizes):
    return torch.tensor([0, *sizes]).cumsum(0)


def results(backend, run, *inputs):
    """What a function returns, and the gradients of its inputs."""
    inputs = [one.clone().requires_grad_() for one in inputs]
    with use_backend(backend):
        outputs = run(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        torch.manual_seed(1)
        # In float64, so that only what is tested is rounded.
        loss = sum((one.double() * torch.randn(one.shape)).sum() for one in outputs)
        return *outputs, *torch.autograd.grad(loss, inputs)


@settings(max_examples=10)
@given(
    sizes=SIZES,
    slots=st.integers(1, 20),
    channels=st.integers(1, 20),
    per_graph=st.booleans(),
    weighted=st.booleans(),
    many_blocks=st.booleans(),
    reduction=st.sampled_from(["sum", "mean", "mass"]),
)
def test_slots_masses_and_gradients(
    sizes, slots, channels, per_graph, weighted, many_blocks, reduction
):
    ptr = boundaries(sizes)
    x = torch.randn(sum(sizes), channels)
    anchors = torch.randn(*((len(sizes),) if per_graph else ()), slots, channels)
    inputs = (x, anchors, torch.rand(len(x)))[: 3 if weighted else 2]

    def run(x, anchors, weight=None):
        return distribute_on_device(x, anchors, ptr, reduction, weight)

    expected = results("batched", run, *inputs)
    with pytest.MonkeyPatch.context() as patch:
        if many_blocks:
            patch.setattr(triton_distribute, "MOST_SLOTS", 16)
            patch.setattr(triton_distribute, "MOST_CHANNELS", 16)
            patch.setattr(triton_distribute, "PROGRAMS", 2)
        found = results("triton", run, *inputs)
    assert_close(found, expected, **EXACT)


def one_by_one(x, anchors, ptr, reduction, weight):
    """The definition, in float64: graph by graph, node by node."""
    slots, masses = [], []
    nothing = 0 * (x.sum() + anchors.sum() + weight.sum())  # so that all have a gradient
    for graph, (begin, end) in enumerate(itertools.pairwise(ptr.tolist())):
        own = anchors[graph] if anchors.dim() == 3 else anchors
        total, mass = torch.zeros_like(own) + nothing, torch.zeros_like(own[:, 0]) + nothing
        for node in range(begin, end):
            powers = (own @ x[node]).exp()
            share = weight[node] * powers / powers.sum()
            total, mass = total + torch.outer(share, x[node]), mass + share
        divisor = {"sum": 1, "mean": max(end - begin, 1), "mass": mass[:, None].clamp(min=1e-12)}
        slots.append(total / divisor[reduction])
        masses.append(mass)
    return torch.stack(slots), torch.stack(masses)


STEPS = {torch.float32: 1e-5, torch.bfloat16: 2**-7, torch.float16: 2**-9}


@settings(max_examples=12)
@given(
    sizes=st.lists(st.sampled_from([0, 1, 5, 33]), min_size=1, max_size=3),
    slots=st.integers(1, 19),
    channels=st.integers(1, 19),
    per_graph=st.booleans(),
    reduction=st.sampled_from(["sum", "mean", "mass"]),
    dtype=st.sampled_from(list(STEPS)),
)
def test_the_definition_in_every_dtype(sizes, slots, channels, per_graph, reduction, dtype):
    ptr = boundaries(sizes)
    x, weight = torch.randn(sum(sizes), channels).to(dtype), torch.rand(sum(sizes)).to(dtype)
    anchors = torch.randn(*((len(sizes),) if per_graph else ()), slots, channels).to(dtype)

    def exact(x, anchors, weight):
        return one_by_one(x, anchors, ptr, reduction, weight)

    def run(x, anchors, weight):
        return distribute_on_device(x, anchors, ptr, reduction, weight)

    expected = results("cpu", exact, x.double(), anchors.double(), weight.double())
    found = results("triton", run, x, anchors, weight)
    assert [one.dtype for one in found] == [dtype, torch.float32, dtype, dtype, dtype]
    for one, other in zip(found, expected, strict=True):
        # Results are rounded once; gradients of slots that were rounded, a few times.
        scale = max(1.0, float(other.detach().abs().max())) if other.numel() else 1.0
        assert_close(one.double(), other, rtol=4 * STEPS[dtype], atol=4 * STEPS[dtype] * scale)


@pytest.mark.parametrize("reduction", ["sum", "mean", "mass"])
def test_the_cpu_operator_agrees(reduction):
    ptr, x, anchors = boundaries([40, 0, 5]), torch.randn(45, 12), torch.randn(6, 12)

    def run(x, anchors):
        return distribute(x, anchors, ptr, reduction=reduction)

    expected = results("cpu", run, x, anchors)
    assert_close(results("triton", run, x, anchors), expected, **EXACT)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_low_precision_is_added_up_in_float32(dtype):
    ptr, x = boundaries([300, 4]), torch.randn(304, 8).to(dtype)
    anchors = torch.randn(5, 8).to(dtype)

    def run(x, anchors):
        return distribute_on_device(x, anchors, ptr, "sum")

    exact = results("cpu", lambda x, a: distribute(x, a, ptr), x.float(), anchors.float())
    slots, mass, grad_x, grad_anchors = results("triton", run, x, anchors)
    assert slots.dtype == grad_x.dtype == grad_anchors.dtype == dtype
    assert mass.dtype == torch.float32
    step = torch.finfo(dtype).eps
    assert_close(slots.float(), exact[0], rtol=step, atol=1e-4)


def test_a_large_graph_is_split_over_programs():
    ptr, x = boundaries([600, 2]), torch.randn(602, 4)
    size = tiles.tile_size(602, 2, least=32)
    assert tiles.make_tiles(ptr, 602, size).first.diff()[0] > 4
    expected = results("cpu", lambda x: distribute(x, torch.eye(4), ptr), x)
    assert_close(
        results("triton", lambda x: distribute(x, torch.eye(4), ptr), x), expected, **EXACT
    )


def test_gradients_of_anchors_have_the_same_bits_every_time():
    ptr, x, anchors = boundaries([70, 33, 5]), torch.randn(108, 4), torch.randn(3, 4)

    def run(x, anchors):
        return distribute(x, anchors, ptr)

    once, twice = (results("triton", run, x, anchors) for _ in range(2))
    assert all(torch.equal(*pair) for pair in zip(once, twice, strict=True))


@settings(max_examples=6)
@given(sizes=SIZES, channels=st.integers(1, 20), ties=st.booleans())
def test_maximum_and_its_gradient(sizes, channels, ties):
    ptr, x = boundaries(sizes), torch.randn(sum(sizes), channels)
    x = x.round() if ties else x

    def run(x):
        return ragged_max(x, ptr)

    assert_close(results("triton", run, x), results("cpu", run, x))


def test_the_maximum_of_nan_is_nan():
    x = torch.randn(80, 3)
    x[50, 1] = torch.nan
    with use_backend("triton"):
        found = ragged_max(x, boundaries([40, 40]))
    assert found.isnan().tolist() == [[False] * 3, [False, True, False]]


def test_a_wide_block_is_not_taken_for_all_slots():
    """A softmax over one block of slots only would give shares that sum to more than one."""
    x, anchors, ptr = torch.randn(6, 4), torch.randn(70, 4), boundaries([6])
    with use_backend("triton"):
        _, mass = distribute_on_device(x, anchors, ptr, "sum")
    assert_close(mass.sum(), torch.tensor(6.0))


@pytest.mark.parametrize("anchors", ["fixed", "generated"])
def test_the_layer_trains_on_it(anchors):
    pool = LFDSPool(6, "loop", num_slots=4, anchors=anchors, blend=True)
    x, index = torch.randn(20, 6), torch.arange(4).repeat_interleave(5)
    parameters = list(pool.parameters())
    found = []
    for backend in ("cpu", "triton"):
        with use_backend(backend):
            loss = pool(x, index, dim_size=4).square().sum()
            grads = torch.autograd.grad(loss, parameters, allow_unused=True)
        found.append([loss.detach(), *(one for one in grads if one is not None)])
    assert_close(found[1], found[0], rtol=1e-3, atol=1e-3)


def test_the_number_of_launches_does_not_depend_on_the_number_of_graphs(monkeypatch):
    seen, counts, launch = [], [], triton_distribute.launch
    monkeypatch.setattr(
        triton_distribute, "launch", lambda *given, **more: seen.append(launch(*given, **more))
    )
    for num_graphs in (2, 12):
        seen.clear()
        x, ptr = torch.randn(3 * num_graphs, 4, requires_grad=True), boundaries([3] * num_graphs)
        with use_backend("triton"):
            distribute(x, torch.randn(5, 4, requires_grad=True), ptr).sum().backward()
        counts.append(len(seen))
    # Tiles and large graphs; gradients (those of the anchors are added up by torch).
    assert counts == [3, 3]


def test_blocks_fit_and_are_large_enough_for_products():
    assert triton_distribute.blocks_for(64, 64) == (32, 64, 64)
    assert triton_distribute.blocks_for(5, 200) == (32, 16, 64)


@pytest.mark.parametrize("per_graph", [False, True])
def test_the_operators_pass_the_checks_of_torch(per_graph):
    x = torch.randn(5, 4, requires_grad=True)
    anchors = torch.randn(*((3,) if per_graph else ()), 3, 4, requires_grad=True)
    ptr = torch.tensor([0, 2, 2, 5])
    checks = ("test_schema", "test_autograd_registration", "test_faketensor")
    with use_backend("triton"):
        given = (x, anchors, ptr, None, "mass")
        torch.library.opcheck(torch.ops.lfds.distribute_on_device, given, test_utils=checks)
        torch.library.opcheck(torch.ops.lfds.ragged_max, (x, ptr), test_utils=checks)
