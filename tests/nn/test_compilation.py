"""Layer and network give the same numbers compiled, exported, and as an ONNX file."""

import pytest
import torch
from tests.nn.cases import STRUCTURES, VARIANTS, directed_edges, small_settings
from torch import Tensor, nn
from torch.testing import assert_close

import lfds
from lfds.config.network import PAPER_LAYER
from lfds.nn import Edges, GraphNetwork
from lfds.nn.ops.edges import Rows

pytestmark = [
    pytest.mark.plain,
    # torch's own: the exporters use calls that torch has deprecated.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


def structure_cases():
    """Every structure; compiling takes seconds, so only the first of each type of layer is fast."""
    seen = set()
    for name, build in {**STRUCTURES, **VARIANTS}.items():
        layer = type(build().layer(2))
        slow = [pytest.mark.slow] if layer in seen or name in VARIANTS else []
        seen.add(layer)
        if name != "learned-spectral-exact":  # see test_exactly_orthonormal_basis_...
            yield pytest.param(build, {}, marks=slow, id=name)


CASES = [
    *structure_cases(),
    *(
        pytest.param(STRUCTURES["loop"], options, id=options["anchors"])
        for options in (
            {"anchors": "generated", **PAPER_LAYER},
            {"anchors": "mixture", "reduction": "mass", "hidden_channels": 4},
        )
    ),
    pytest.param(
        STRUCTURES["image"],
        {"latent": nn.Sequential(nn.Conv2d(8, 6, 3, 2), nn.BatchNorm2d(6))},
        id="latent",
    ),
]
every_case = pytest.mark.parametrize(("build", "options"), CASES)


@pytest.fixture(autouse=True)
def _forget_earlier_compilations() -> None:
    torch._dynamo.reset()


def trained(build, options) -> lfds.LFDSPool:
    """A pooling whose running statistics are not the initial ones."""
    pool = lfds.LFDSPool(8, build(), **options)
    pool(torch.randn(50, 8), torch.arange(50) % 5)
    return pool.eval()


def batch(sizes: list[int]) -> tuple[Tensor, Tensor]:
    return torch.randn(sum(sizes), 8), torch.tensor([0, *sizes]).cumsum(0)


@every_case
def test_compiled_in_one_graph_for_all_sizes(build, options):
    pool = trained(build, options)
    compiled = torch.compile(pool, fullgraph=True, dynamic=True, backend="aot_eager")
    for sizes in ([3, 0, 5, 4], [2, 9], [1, 1, 1, 1, 30]):
        x, ptr = batch(sizes)
        assert_close(compiled(x, ptr=ptr), pool(x, ptr=ptr))


@pytest.mark.parametrize("low_memory", [False, True])
def test_compiled_training_step_has_the_gradients_of_eager_mode(low_memory):
    pool = lfds.LFDSPool(8, lfds.Loop(8), low_memory=low_memory)
    compiled = torch.compile(pool, fullgraph=True, dynamic=True, backend="aot_eager")
    x, _ = batch([12])
    index = torch.tensor([2, 0, 0, 1, 2, 2, 0, 1, 2, 0, 2, 2])
    found = {}
    for name, run in (("eager", pool), ("compiled", compiled)):
        pool.zero_grad()
        own = x.clone().requires_grad_()
        run(own, index, dim_size=4).square().sum().backward()
        found[name] = [own.grad, *(parameter.grad for parameter in pool.parameters())]
    assert_close(found["compiled"], found["eager"], rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_compiled_by_inductor():
    pool = trained(STRUCTURES["loop"], {})
    compiled = torch.compile(pool, fullgraph=True, dynamic=True)
    for sizes in ([3, 0, 5, 4], [2, 9]):
        x, ptr = batch(sizes)
        assert_close(compiled(x, ptr=ptr), pool(x, ptr=ptr), rtol=1e-4, atol=1e-5)


def test_compiled_code_refuses_a_wrong_ptr_when_it_runs():
    pool = lfds.LFDSPool(8, lfds.Loop(8))
    compiled = torch.compile(pool, fullgraph=True, dynamic=True, backend="aot_eager")
    x = torch.randn(6, 8)
    assert compiled(x, ptr=torch.tensor([0, 2, 6])).isfinite().all()
    for wrong in ([0, 2, 4], [0, 2, 40], [0, 4, 2, 6], [1, 3, 6]):
        with pytest.raises(ValueError, match="ptr must"):
            compiled(x, ptr=torch.tensor(wrong))


def test_compiled_code_leaves_the_graph_to_count_graphs():
    pool = trained(STRUCTURES["loop"], {})
    compiled = torch.compile(pool, backend="aot_eager")
    for index in ([0, 0, 1, 1], [2, 0, 1, 1], [0, 0, 0, 0]):
        x, index = torch.randn(4, 8), torch.tensor(index)
        assert_close(compiled(x, index), pool(x, index))


def test_one_graph_needs_dim_size_or_ptr():
    x, index = torch.randn(4, 8), torch.tensor([0, 0, 1, 1])
    compiled = torch.compile(lfds.LFDSPool(8), fullgraph=True, backend="aot_eager")
    with pytest.raises(Exception, match="pass dim_size"):
        compiled(x, index)
    with pytest.raises(Exception, match="pass dim_size"):
        torch.export.export(lfds.LFDSPool(8), (x, index))


def dynamic_shapes() -> dict[str, dict[int, torch.export.Dim]]:
    # torch specializes sizes 0 and 1: an exported batch holds at least two graphs.
    return {
        "x": {0: torch.export.Dim("nodes", min=2, max=10_000)},
        "ptr": {0: torch.export.Dim("boundaries", min=3, max=1_000)},
    }


@every_case
def test_exported_for_all_sizes(build, options):
    pool = trained(build, options)
    x, ptr = batch([3, 0, 5, 4])
    program = torch.export.export(pool, (x,), {"ptr": ptr}, dynamic_shapes=dynamic_shapes())
    x, ptr = batch([7, 1])
    assert_close(program.module()(x, ptr=ptr), pool(x, ptr=ptr))


@every_case
def test_onnx_file_run_by_onnxruntime(build, options, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    pool = trained(build, options)
    x, ptr = batch([3, 0, 5, 4])
    torch.onnx.export(
        pool,
        (x,),
        tmp_path / "pool.onnx",
        kwargs={"ptr": ptr},
        dynamic_shapes=dynamic_shapes(),
        dynamo=True,
        verbose=False,
    )
    session = runtime.InferenceSession(tmp_path / "pool.onnx")
    for sizes in ([3, 0, 5, 4], [20, 1], [0, 0, 2], [6]):
        x, ptr = batch(sizes)
        (found,) = session.run(None, {"x": x.numpy(), "ptr": ptr.numpy()})
        assert_close(torch.from_numpy(found), pool(x, ptr=ptr).detach(), rtol=1e-4, atol=1e-4)


def test_onnx_of_large_graphs_gives_the_same_every_time(tmp_path):
    """onnxruntime's threads must not race for the sums."""
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    pool = trained(STRUCTURES["loop"], {"reduction": "mass"})
    x, ptr = batch([700, 300])
    path = tmp_path / "pool.onnx"
    torch.onnx.export(pool, (x,), path, kwargs={"ptr": ptr}, dynamo=True, verbose=False)
    session = runtime.InferenceSession(path)
    expected = pool(x, ptr=ptr).detach()
    for _ in range(60):
        (found,) = session.run(None, {"x": x.numpy(), "ptr": ptr.numpy()})
        assert_close(torch.from_numpy(found), expected, rtol=1e-4, atol=1e-4)


# The number of graphs is no input of the file, which the exporter warns about.
@pytest.mark.filterwarnings("ignore:# ONNX model has different number of inputs:UserWarning")
def test_onnx_with_an_unsorted_index(tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pool = trained(STRUCTURES["loop"], {})
    x, index = torch.randn(6, 8), torch.tensor([1, 0, 2, 0, 1, 1])
    nodes = torch.export.Dim("nodes", min=2, max=10_000)
    torch.onnx.export(
        pool,
        (x, index),
        tmp_path / "pool.onnx",
        kwargs={"dim_size": 3},
        dynamic_shapes={"x": {0: nodes}, "index": {0: nodes}, "dim_size": None},
        dynamo=True,
        verbose=False,
    )
    session = runtime.InferenceSession(tmp_path / "pool.onnx")
    x, index = torch.randn(9, 8), torch.arange(9) % 3
    (found,) = session.run(None, {"x": x.numpy(), "index": index.numpy()})
    assert_close(torch.from_numpy(found), pool(x, index).detach(), rtol=1e-4, atol=1e-4)


def test_exactly_orthonormal_basis_is_frozen_for_onnx(tmp_path):
    pytest.importorskip("onnxscript")
    pool = lfds.LFDSPool(8, lfds.LearnedSpectrum(6, orthonormal="exact")).eval()
    x, ptr = batch([3, 4])
    expected = pool(x, ptr=ptr)
    with pytest.raises(torch.onnx.errors.OnnxExporterError, match="matrix_exp"):
        torch.onnx.export(pool, (x,), kwargs={"ptr": ptr}, dynamo=True, verbose=False)
    pool.structure.freeze()
    assert_close(pool(x, ptr=ptr), expected)
    assert torch.onnx.export(pool, (x,), kwargs={"ptr": ptr}, dynamo=True, verbose=False)


# The network.


@pytest.mark.parametrize(
    "pool",
    [
        "max",
        "diff",
        "topk",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("sag", *STRUCTURES)),
    ],
)
def test_the_network_compiles_to_one_graph(pool):
    model = GraphNetwork(7, 3, small_settings(pool)).eval()
    index = torch.tensor([[0, 1, 2, 3, 6, 7], [1, 0, 3, 2, 7, 8]])
    batch = torch.randn(9, 7), torch.tensor([0, 5, 5, 9]), Edges.from_index(index, 9)
    # Not turned into machine code, which takes minutes.
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    expected = model(*batch)
    upstream = torch.randn_like(expected)
    expected.backward(upstream)
    grads = [parameter.grad for parameter in model.parameters()]
    model.zero_grad()
    found = compiled(*batch)
    found.backward(upstream)
    assert_close(found, expected)
    for grad, parameter in zip(grads, model.parameters(), strict=True):
        assert_close(parameter.grad, grad, atol=1e-4, rtol=1e-4)


RANKINGS = ["topk", "sag"]


def network(pool):
    torch.manual_seed(0)
    settings = small_settings(pool, node_dropout=0.0, head_dropout=0.0)
    # In double precision: batch norms over the few nodes that are kept amplify rounding.
    return GraphNetwork(7, 3, settings).double()


def random_batch(sizes):
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    x = torch.randn(sum(sizes), 7).double()
    return x, ptr, directed_edges(x, ptr)


@pytest.mark.slow
@pytest.mark.parametrize("pool", RANKINGS)
def test_the_number_of_kept_nodes_is_found_at_run_time(pool):
    model = network(pool).eval()
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True, dynamic=True)
    for sizes in ([5, 0, 4], [20, 30, 1], [1, 1]):
        batch = random_batch(sizes)
        assert_close(compiled(*batch), model(*batch))


@pytest.mark.slow
@pytest.mark.parametrize("pool", RANKINGS)
def test_a_compiled_training_step_of_rank_pooling(pool):
    model = network(pool)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True, dynamic=True)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    for sizes in ([5, 0, 4], [20, 30, 1]):
        batch, found = random_batch(sizes), []
        for run in (model, compiled):
            model.load_state_dict(state)
            model.zero_grad()
            run(*batch).square().sum().backward()
            grads = [parameter.grad for parameter in model.parameters()]
            found.append((grads, [value.clone() for value in model.state_dict().values()]))
        assert_close(found[1], found[0])
    with pytest.raises(RuntimeError, match="two nodes or more stay"):
        compiled(*random_batch([2]))


# The penalty belongs to training, which an exported network does not need.
@pytest.mark.filterwarnings("ignore:The tensor attribute self.pool._penalty:UserWarning")
@pytest.mark.parametrize(
    "pool",
    [
        *RANKINGS,
        "max",
        "diff",
        "loop",
        *(pytest.param(name, marks=pytest.mark.slow) for name in STRUCTURES if name != "loop"),
    ],
)
def test_the_network_is_exported_for_all_sizes(pool):
    model = network(pool).eval()
    any_size = {0: torch.export.Dim.AUTO}
    edges = Edges(Rows(*[any_size] * 3), Rows(*[any_size] * 3))
    shapes = {"x": any_size, "ptr": any_size, "edges": edges}
    program = torch.export.export(model, random_batch([5, 0, 4]), dynamic_shapes=shapes).module()
    for sizes in ([20, 30, 1], [3, 2]):
        batch = random_batch(sizes)
        assert_close(program(*batch), model(*batch))
