import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from lfds.nn.ops.weighted_sums import weighted_sums


@given(
    sizes=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    width=st.integers(1, 5),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    seed=st.integers(0, 99),
)
def test_sums_and_gradients_are_those_of_one_graph_at_a_time(sizes, width, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=dtype)  # noqa: E731
    weights, x = draw(sum(sizes), 4).requires_grad_(), draw(sum(sizes), width).requires_grad_()
    ptr = torch.tensor([0, *sizes]).cumsum(0)
    parts = zip(weights.split(sizes), x.split(sizes), strict=True)
    expected = torch.stack([a.T @ b for a, b in parts])
    found = weighted_sums(weights, x, ptr)
    assert_close(found, expected)
    pull = draw(*expected.shape)
    for one, other in zip(
        torch.autograd.grad(found, (weights, x), pull),
        torch.autograd.grad(expected, (weights, x), pull),
        strict=True,
    ):
        assert_close(one, other)


def test_expanded_gradients_and_columns_of_a_wider_matrix():
    wide = torch.randn(5, 8, requires_grad=True)
    a, b = wide.chunk(2, dim=1)
    ptr = torch.tensor([0, 2, 5])
    weighted_sums(a, b, ptr).sum().backward()
    assert_close(wide.grad[:, :4], b.sum(1, keepdim=True).expand(5, 4))


def test_the_operator_is_well_formed():
    weights, x = (torch.randn(5, 4, requires_grad=True) for _ in range(2))
    torch.library.opcheck(torch.ops.lfds.weighted_sums, (weights, x, torch.tensor([0, 2, 2, 5])))
