"""Invalid input is refused by messages that name it, the need, the value and the way out."""

import pytest
import torch

import lfds
from lfds.nn.input_checks import check_batch

X = torch.randn(6, 4)


@pytest.fixture
def pool():
    return lfds.LFDSPool(4, lfds.Loop(3))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"x": torch.randn(6, 5)}, ValueError, "must have 4 channels, got 5.*channels=5"),
        ({"x": torch.randn(6)}, ValueError, r"two dimensions.*got \[6\].*index or ptr"),
        ({"x": torch.ones(6, 4).long()}, TypeError, r"floating-point.*int64.*x\.float\(\)"),
        ({"dim": 1}, ValueError, "any but the last.*channels, got 1; use -2, or transpose x"),
        ({"index": torch.zeros(6)}, TypeError, r"integer dtype, got torch.float32.*index\.long"),
        ({"index": torch.zeros(6, 1).long()}, ValueError, r"one dimension, got \[6, 1\]"),
        ({"index": torch.zeros(5).long()}, ValueError, "each of the 6 rows of x, got 5"),
        (
            {"index": torch.tensor([0, 0, -1, 0, 0, 1])},
            ValueError,
            "not be negative, got -1 for node 2; drop",
        ),
        (
            {"index": torch.tensor([0, 0, 1, 3, 0, 1]), "dim_size": 2},
            ValueError,
            "below dim_size=2, got 3 for node 3; pass dim_size=4",
        ),
        ({"ptr": torch.tensor([0.0, 6.0])}, TypeError, r"ptr must be of an integer.*ptr\.long"),
        ({"ptr": torch.tensor([], dtype=torch.long)}, ValueError, r"got none; use \[0\]"),
        ({"ptr": torch.tensor([1, 6])}, ValueError, "start at 0, got 1; prepend a zero"),
        ({"ptr": torch.tensor([0, 4, 3, 6])}, ValueError, "not go down, got 4 then 3 at graph 1"),
        ({"ptr": torch.tensor([0, 4])}, ValueError, "end at the number of rows of x, 6, got 4"),
        ({"ptr": torch.tensor([0, 4, 7])}, ValueError, "rows of x, 6, got 7.*same batch"),
        (
            {"ptr": torch.tensor([0, 6]), "dim_size": 2},
            ValueError,
            "dim_size . 1 = 3 entries, got 2; leave dim_size out",
        ),
        ({"dim_size": -2}, ValueError, "dim_size must be at least 0, got -2"),
        (
            {"ptr": torch.tensor([0, 2, 6]), "index": torch.tensor([0, 0, 9, 1, 1, 1])},
            ValueError,
            "node 2 is in graph 9 by index and in graph 1 by ptr",
        ),
        (
            {"ptr": torch.tensor([0, 2, 6]).short(), "index": torch.tensor([0, 0, 0, 1, 1, 1])},
            ValueError,
            "index and ptr must agree",
        ),
        ({"x": torch.randn(6, 4).to_sparse()}, TypeError, r"x must be dense.*to_dense\(\)"),
        (
            {"ptr": torch.tensor([0, 2, 6]), "index": torch.tensor([0, 0, 0, 1, 1, 1])},
            ValueError,
            "node 2 is in graph 0 by index and in graph 1 by ptr; pass only one",
        ),
    ],
)
def test_invalid_batches(pool, arguments, error, message):
    with pytest.raises(error, match=message):
        pool(**{"x": X, **arguments})


@pytest.mark.plain
@pytest.mark.parametrize("dim_size", [2.5, "2", True])
def test_dim_size_must_be_an_integer(pool, dim_size):
    with pytest.raises(TypeError, match="dim_size must be an integer"):
        pool(X, torch.zeros(6).long(), dim_size=dim_size)


@pytest.mark.plain
def test_functions_check_their_arguments():
    for function in (lfds.nn.distribute, lfds.nn.shares):
        with pytest.raises(ValueError, match="two dimensions"):
            function(torch.randn(4), torch.randn(3, 4), torch.tensor([0, 4]))
        with pytest.raises(TypeError, match="anchors must be a tensor"):
            function(X, [[0.0] * 4], torch.tensor([0, 6]))
        with pytest.raises(TypeError, match="floating-point"):
            function(X.long(), torch.randn(3, 4), torch.tensor([0, 6]))
        with pytest.raises(ValueError, match="ptr must start at 0"):
            function(X, torch.randn(3, 4), torch.tensor([3, 2, 6]))


@pytest.mark.plain
@pytest.mark.parametrize("name", ["x", "index", "ptr"])
def test_tensors_are_required(pool, name):
    with pytest.raises(TypeError, match=f"{name} must be a tensor.*got list"):
        pool(**{"x": X, name: [0] * 6})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("reduction", lfds.nn.REDUCTIONS)
@pytest.mark.parametrize("anchors", lfds.nn.ANCHORS)
@pytest.mark.parametrize("low_memory", [False, True])
@pytest.mark.parametrize("make", [lfds.LFDSPool, lfds.LFDSPool.paper], ids=["default", "paper"])
def test_values_that_are_not_finite_are_found(make, value, reduction, anchors, low_memory):
    pool = make(4, lfds.Loop(3), reduction=reduction, anchors=anchors, low_memory=low_memory)
    x = X.clone()
    x[4, 2] = value
    with pytest.raises(ValueError, match=r"node 4, channel 2 \(graph 1\).*1 of 6 nodes"):
        pool(x, torch.tensor([0, 0, 0, 1, 1, 1]))


def test_a_node_is_named_by_its_place_in_x():
    x = X.clone()
    x[0, 1] = torch.nan
    index = torch.tensor([1, 0, 1, 0, 1, 0])
    with pytest.raises(ValueError, match=r"node 0, channel 1 \(graph 1\)"):
        lfds.LFDSPool(4, lfds.Loop(3))(x, index)
    with pytest.raises(ValueError, match=r"node 0, channel 1 \(graph 1\)"):
        check_batch(x, 4, index=index)


def test_anchors_that_are_not_finite_are_found():
    pool = lfds.LFDSPool(4, lfds.Loop(3))
    with torch.no_grad():
        pool.anchors.free.fill_(torch.nan)
    with pytest.raises(ValueError, match=r"anchors must be finite.*diverged"):
        pool(X)


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_overflow_in_one_slot_of_low_precision(reduction):
    anchors = torch.tensor([[-1.0, -1.0], [1.0, 1.0]]).half()
    x = torch.full((3000, 2), 30.0).half()
    ptr = torch.tensor([0, 3000])
    if reduction == "mean":
        assert lfds.nn.distribute(x, anchors, ptr, reduction="mean").isfinite().all()
    else:
        with pytest.raises(ValueError, match=r"overflows torch.float16 .*reduction='mean'"):
            lfds.nn.distribute(x, anchors, ptr)


def test_overflow_of_finite_values():
    huge, index = torch.full((6, 4), 3e38), torch.zeros(6).long()
    with pytest.raises(ValueError, match="finite, but pooling graph 0 overflows"):
        lfds.LFDSPool.paper(4, lfds.Loop(3))(huge, index)
    with pytest.raises(ValueError, match=r"finite, but the variance .*or node_norm=False"):
        lfds.LFDSPool(4, lfds.Loop(3))(huge, index)


@pytest.mark.plain
@pytest.mark.filterwarnings("ignore")  # torch.jit is deprecated
def test_jit_trace_is_refused_for_export(pool):
    edges = lfds.nn.Edges.from_index(torch.tensor([[0, 1], [1, 0]]), 6)
    network = lfds.nn.GraphNetwork(4, 2, lfds.nn.NetworkSettings(pool="max"))
    ptr = torch.tensor([0, 3, 6])
    for model, arguments in ((pool, (X,)), (network, (X, ptr, edges))):
        # Edges without features are refused by torch itself, before the network is called.
        refused = r"^torch.jit.trace cannot.*use torch\.export|^Type .* cannot be traced"
        with pytest.raises(RuntimeError, match=refused):
            torch.jit.trace(model.eval(), arguments)
    recorded = torch.export.export(pool, (X,)).module()
    torch.testing.assert_close(recorded(X), pool(X))


@pytest.mark.parametrize("options", [{}, {"hidden_channels": 3}, {"node_norm": False}], ids=str)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_nodes_of_another_dtype(dtype, options):
    pool = lfds.LFDSPool(4, lfds.Loop(3), **options)
    with pytest.raises(TypeError, match=rf"float32, got {dtype}; .*model\.to\({dtype}\)"):
        pool(X.to(dtype))


@pytest.mark.plain
def test_anchors_of_another_dtype():
    with pytest.raises(TypeError, match=r"float64 and torch.float32.*x\.to\(torch\.float32\)"):
        lfds.nn.distribute(X.double(), torch.randn(3, 4), torch.tensor([0, 6]))


@pytest.mark.plain
@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((3, 5), r"anchors must be \[slots, 4\].*got \[3, 5\]"),
        ((4,), r"got \[4\]"),
        ((2, 3, 4), "each of the 1 graphs of ptr, got 2"),
        ((0, 4), "at least one slot"),
    ],
)
def test_anchors_that_do_not_fit(shape, message):
    with pytest.raises(ValueError, match=message):
        lfds.nn.distribute(X, torch.randn(shape), torch.tensor([0, 6]))


def test_check_batch_checks_values_too():
    check_batch(X, 4, index=torch.zeros(6).long(), dim_size=1)
    check_batch(X, 4, ptr=torch.tensor([0, 2, 6]))
    x = X.clone()
    x[5, 0] = torch.inf
    with pytest.raises(ValueError, match=r"node 5, channel 0 \(graph 1\)"):
        check_batch(x, 4, ptr=torch.tensor([0, 2, 6]))
    with pytest.raises(ValueError, match="not go down"):
        check_batch(X, 4, ptr=torch.tensor([0, 5, 2, 6]))
    with pytest.raises(ValueError, match="negative"):
        check_batch(X, 4, index=torch.tensor([0, 0, 0, 0, 0, -1]))
    with pytest.raises(ValueError, match="must agree"):
        check_batch(X, 4, index=torch.zeros(6).long(), ptr=torch.tensor([0, 2, 6]))
    with pytest.raises(ValueError, match="dim_size must be at least 0"):
        check_batch(X, 4, dim_size=-3)
    check_batch(torch.zeros(0, 4), 4, index=torch.zeros(0).long())
