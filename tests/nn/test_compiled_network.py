"""The network compiled gives the numbers of eager mode."""

import pytest
import torch
from torch.testing import assert_close

from lfds.nn import Edges, GraphClassifier, NetworkSettings

pytestmark = [
    pytest.mark.plain,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.mark.parametrize("pool", ["max", pytest.param("loop", marks=pytest.mark.slow), "diff"])
def test_the_whole_network_is_one_graph(pool):
    torch._dynamo.reset()
    settings = NetworkSettings(pool=pool, width=8, slots=8, clusters=4)
    model = GraphClassifier(7, 3, settings).eval()
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
