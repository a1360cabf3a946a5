"""The layer compiled, exported, and run by onnxruntime gives the numbers of eager mode."""

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

import lfds

pytestmark = [
    pytest.mark.plain,
    # torch's own: the exporters copy with a call that torch has deprecated, and so on.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

STRUCTURES = {
    "image": lambda: lfds.Image(4, 4),
    "array": lambda: lfds.Array(8),
    "sequence": lambda: lfds.Sequence(8),
    "loop": lambda: lfds.Loop(8),
    "learned-spatial": lambda: lfds.LearnedGraph(8),
    "learned-spectral": lambda: lfds.LearnedSpectrum(8),
    "own-graph": lambda: lfds.LatentGraph(torch.ones(8, 8)),
}
# Compiling takes seconds each time: one of each kind of layer always, the others when asked.
CASES = [
    ("image", "fixed", "sum"),
    ("loop", "fixed", "sum"),
    ("loop", "generated", "mean"),
    ("loop", "mixture", "mass"),
    ("learned-spectral", "fixed", "sum"),
    *(
        pytest.param(name, "fixed", "sum", marks=pytest.mark.slow)
        for name in ("array", "sequence", "learned-spatial", "own-graph")
    ),
]


@pytest.fixture(autouse=True)
def _forget_earlier_compilations() -> None:
    torch._dynamo.reset()


def trained(structure: str, anchors: str, reduction: str) -> lfds.LFDSPool:
    """A pooling whose running statistics are not those of birth."""
    pool = lfds.LFDSPool(8, STRUCTURES[structure](), anchors=anchors, reduction=reduction)
    pool(torch.randn(50, 8), torch.arange(50) % 5)
    return pool.eval()


def batch(sizes: list[int]) -> tuple[Tensor, Tensor]:
    return torch.randn(sum(sizes), 8), torch.tensor([0, *sizes]).cumsum(0)


@pytest.mark.parametrize(("structure", "anchors", "reduction"), CASES)
def test_compiled_in_one_graph_for_all_sizes(structure, anchors, reduction):
    pool = trained(structure, anchors, reduction)
    compiled = torch.compile(pool, fullgraph=True, dynamic=True, backend="aot_eager")
    for sizes in ([3, 0, 5, 4], [2, 9], [1, 1, 1, 1, 30]):
        x, ptr = batch(sizes)
        assert_close(compiled(x, ptr=ptr), pool(x, ptr=ptr))


@pytest.mark.parametrize("low_memory", [False, True])
def test_compiled_training_step_has_the_gradients_of_eager_mode(low_memory):
    pool = lfds.LFDSPool(8, lfds.Loop(8), slot_dropout=0.0, low_memory=low_memory)
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
    pool = trained("loop", "fixed", "sum")
    compiled = torch.compile(pool, fullgraph=True, dynamic=True)
    for sizes in ([3, 0, 5, 4], [2, 9]):
        x, ptr = batch(sizes)
        assert_close(compiled(x, ptr=ptr), pool(x, ptr=ptr), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "ptr", [[0, 2, 4], [0, 2, 40], [0, 4, 2, 6], [1, 3, 6]], ids=lambda ptr: "-".join(map(str, ptr))
)
def test_compiled_code_refuses_a_wrong_ptr_when_it_runs(ptr):
    pool = lfds.LFDSPool(8, lfds.Loop(8), blend=False)
    compiled = torch.compile(pool, fullgraph=True, dynamic=True, backend="aot_eager")
    with pytest.raises(ValueError, match="ptr must"):
        compiled(torch.randn(6, 8), ptr=torch.tensor(ptr))


def test_compiling_without_the_number_of_graphs_says_what_to_pass():
    compiled = torch.compile(lfds.LFDSPool(8), fullgraph=True, backend="aot_eager")
    with pytest.raises(Exception, match="pass dim_size"):
        compiled(torch.randn(4, 8), torch.tensor([0, 0, 1, 1]))


def dynamic_shapes() -> dict[str, dict[int, torch.export.Dim]]:
    # torch specialises sizes 0 and 1: an exported batch holds at least two graphs.
    return {
        "x": {0: torch.export.Dim("nodes", min=2, max=10_000)},
        "ptr": {0: torch.export.Dim("boundaries", min=3, max=1_000)},
    }


@pytest.mark.parametrize(("structure", "anchors", "reduction"), CASES)
def test_exported_for_all_sizes(structure, anchors, reduction):
    pool = trained(structure, anchors, reduction)
    x, ptr = batch([3, 0, 5, 4])
    program = torch.export.export(pool, (x,), {"ptr": ptr}, dynamic_shapes=dynamic_shapes())
    x, ptr = batch([7, 1])
    assert_close(program.module()(x, ptr=ptr), pool(x, ptr=ptr))


@pytest.mark.parametrize(("structure", "anchors", "reduction"), CASES)
def test_onnx_file_run_by_onnxruntime(structure, anchors, reduction, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    pool = trained(structure, anchors, reduction)
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
    pool = trained("loop", "fixed", "mass")
    x, ptr = batch([700, 300])
    path = tmp_path / "pool.onnx"
    torch.onnx.export(pool, (x,), path, kwargs={"ptr": ptr}, dynamo=True, verbose=False)
    session = runtime.InferenceSession(path)
    expected = pool(x, ptr=ptr).detach()
    for _ in range(60):
        (found,) = session.run(None, {"x": x.numpy(), "ptr": ptr.numpy()})
        assert_close(torch.from_numpy(found), expected, rtol=1e-4, atol=1e-4)


# The number of graphs is no input of the file, and the exporter wonders about it.
@pytest.mark.filterwarnings("ignore:# ONNX model has different number of inputs:UserWarning")
def test_onnx_with_an_unsorted_index(tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pool = trained("loop", "fixed", "sum")
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
