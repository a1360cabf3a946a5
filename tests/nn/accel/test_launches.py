"""What a training step asks of a device must not grow with the number of graphs."""

import pytest
import torch
from tests.nn.accel.launches import counting

from lfds.nn import LFDSPool
from lfds.nn.ops.segment_matmul import weighted_sums


def step(num_graphs, **options):
    pool = LFDSPool(8, "loop", num_slots=4, **options)
    x = torch.randn(20 * num_graphs, 8, requires_grad=True)
    index = torch.arange(num_graphs).repeat_interleave(20)
    ptr = torch.arange(num_graphs + 1) * 20
    torch.manual_seed(0)
    with counting() as by_ptr:
        pool(x, ptr=ptr).square().sum().backward()
    with counting() as by_index:
        pool(x, index, dim_size=num_graphs).square().sum().backward()
    return by_ptr, by_index


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"counts": False, "reduction": "mass"},
        {"blend": True},
        {"anchors": "generated"},
        {"anchors": "mixture", "reduction": "sum"},
    ],
    ids=str,
)
def test_a_step_is_as_many_launches_for_any_number_of_graphs(options):
    few, many = step(4, **options), step(64, **options)
    assert [one.operations for one in few] == [one.operations for one in many]
    assert max(one.count for one in many) < 250


@pytest.mark.parametrize("options", [{}, {"anchors": "generated", "blend": True}], ids=str)
def test_the_host_never_waits(options):
    for launches in step(16, **options):
        assert not +launches.reads


def test_sums_over_graphs_are_as_many_launches_too():
    counts = []
    for num_graphs in (4, 64):
        x, weights = (torch.randn(8 * num_graphs, 4, requires_grad=True) for _ in range(2))
        with counting() as launches:
            weighted_sums(weights, x, torch.arange(num_graphs + 1) * 8).sum().backward()
        assert not +launches.reads
        counts.append(launches.count)
    assert counts[0] == counts[1]


def test_a_loop_over_graphs_is_caught():
    counts = []
    for num_graphs in (4, 64):
        x, sizes = torch.randn(num_graphs * 3, 4), torch.full((num_graphs,), 3)
        with counting() as launches:
            for part in x.split(sizes.tolist()):
                part.t() @ part
        assert launches.reads
        counts.append(launches.count)
    assert counts[1] > counts[0]
