import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.nn.accel.bags import Bags, arrived, returned
from lfds.nn.ops.edges import Edges


@given(nodes=st.integers(1, 8), density=st.sampled_from([0.0, 0.2, 1.0]), seed=st.integers(0, 99))
def test_sums_are_products_with_the_adjacency_and_its_transpose(nodes, density, seed):
    torch.manual_seed(seed)
    adjacency = torch.randn(nodes, nodes) * (torch.rand(nodes, nodes) < density)
    target, source = adjacency.nonzero(as_tuple=True)
    weight = adjacency[target, source]
    bags = Bags(Edges.from_index(torch.stack([source, target]), nodes, weight))
    own, sent, grad = torch.randn(3, nodes, 4)
    assert_close(arrived(torch.cat([own, sent], dim=1), bags), own + adjacency @ sent)
    assert_close(returned(grad, bags), torch.cat([grad, adjacency.T @ grad], dim=1))


def test_weights_in_double_precision_stay_what_they_are():
    weight = torch.tensor([1 / 3], dtype=torch.float64)
    bags = Bags(Edges.from_index(torch.tensor([[0], [1]]), 2, weight))
    both = torch.eye(2, dtype=torch.float64)
    assert arrived(both, bags).flatten().tolist() == [1.0, 0.0]
    assert arrived(both.flip(1), bags).flatten().tolist() == [0.0, 1 + 1 / 3]
