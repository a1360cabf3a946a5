"""The network compiled gives the numbers of eager mode."""

import pytest
import torch
from torch.testing import assert_close

from lfds.nn import Edges, GraphNetwork, NetworkSettings
from lfds.nn.ops.edges import Rows

pytestmark = [
    pytest.mark.plain,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.mark.parametrize(
    "pool",
    [
        "max",
        "diff",
        "topk",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("loop", "sag")),
    ],
)
def test_the_whole_network_is_one_graph(pool):
    torch._dynamo.reset()
    settings = NetworkSettings(pool=pool, width=8, slots=8, clusters=4)
    model = GraphNetwork(7, 3, settings).eval()
    index = torch.tensor([[0, 1, 2, 3, 6, 7], [1, 0, 3, 2, 7, 8]])
    batch = torch.randn(9, 7), torch.tensor([0, 5, 5, 9]), Edges.from_index(index, 9)
    # Traced and differentiated by torch, but not turned into machine code, which takes minutes.
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    expected = model(*batch)
    pull = torch.randn_like(expected)
    expected.backward(pull)
    grads = [parameter.grad for parameter in model.parameters()]
    model.zero_grad()
    found = compiled(*batch)
    found.backward(pull)
    assert_close(found, expected)
    for grad, parameter in zip(grads, model.parameters(), strict=True):
        assert_close(parameter.grad, grad, atol=1e-4, rtol=1e-4)


RANKINGS = ["topk", "sag"]


def network(pool):
    torch._dynamo.reset()
    torch.manual_seed(0)
    settings = NetworkSettings(
        pool=pool, width=8, clusters=4, slots=8, node_dropout=0.0, head_dropout=0.0
    )
    # In double precision: batch norms over the few nodes that stay blow rounding up.
    return GraphNetwork(7, 3, settings).double()


def drawn(sizes):
    ptr, nodes = torch.tensor([0, *sizes]).cumsum(0), sum(sizes)
    graph = torch.repeat_interleave(ptr.diff())
    pairs = torch.cartesian_prod(torch.arange(nodes), torch.arange(nodes)).T
    pairs = pairs[:, (graph[pairs[0]] == graph[pairs[1]]) & (torch.rand(pairs.shape[1]) < 0.4)]
    return torch.randn(nodes, 7).double(), ptr, Edges.from_index(pairs, nodes)


@pytest.mark.slow
@pytest.mark.parametrize("pool", RANKINGS)
def test_how_many_nodes_stay_is_found_when_it_runs(pool):
    model = network(pool).eval()
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True, dynamic=True)
    for sizes in ([5, 0, 4], [20, 30, 1], [1, 1]):
        batch = drawn(sizes)
        assert_close(compiled(*batch), model(*batch))


@pytest.mark.slow
@pytest.mark.parametrize("pool", RANKINGS)
def test_a_compiled_training_step_of_a_ranking(pool):
    model = network(pool)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True, dynamic=True)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    for sizes in ([5, 0, 4], [20, 30, 1]):
        batch, found = drawn(sizes), []
        for run in (model, compiled):
            model.load_state_dict(state)
            model.zero_grad()
            run(*batch).square().sum().backward()
            grads = [parameter.grad for parameter in model.parameters()]
            found.append((grads, [value.clone() for value in model.state_dict().values()]))
        assert_close(found[1], found[0])
    with pytest.raises(RuntimeError, match="two nodes or more stay"):
        compiled(*drawn([2]))


# The penalty belongs to training; a network that is exported is done with that.
@pytest.mark.filterwarnings("ignore:The tensor attribute self.pool._penalty:UserWarning")
@pytest.mark.parametrize("pool", [*RANKINGS, "max", "diff", "loop"])
def test_exported_for_all_sizes(pool):
    model = network(pool).eval()
    any_size = {0: torch.export.Dim.AUTO}
    edges = Edges(Rows(*[any_size] * 3), Rows(*[any_size] * 3))
    shapes = {"x": any_size, "ptr": any_size, "edges": edges}
    program = torch.export.export(model, drawn([5, 0, 4]), dynamic_shapes=shapes).module()
    for sizes in ([20, 30, 1], [3, 2]):
        batch = drawn(sizes)
        assert_close(program(*batch), model(*batch))
