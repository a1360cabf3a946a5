import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lfds.data.datasets.parts.counts import class_of
from lfds.data.datasets.parts.objects import draw_object, parts, train_small_test_large
from lfds.data.datasets.parts.settings import PartsSettings
from lfds.data.splits import stratified_folds
from lfds.nn import Edges, GraphNetwork, NetworkSettings

ALL = [
    PartsSettings(task=task, form=form, objects=10)
    for task in ("count", "share", "pairs")
    for form in ("set", "graph")
]
everywhere = pytest.mark.parametrize("how", ALL, ids=lambda how: how.name)


def twins(how, number=0):
    return [draw_object(how, number, label) for label in (0, 1)]


def bare(one, reduce):
    return reduce(one.features, axis=0)


@everywhere
def test_the_largest_features_of_twins_are_the_same_to_the_last_bit(how):
    for number in range(5):
        first, second = twins(how, number)
        np.testing.assert_array_equal(bare(first, np.max), bare(second, np.max))
        np.testing.assert_array_equal(bare(first, np.min), bare(second, np.min))


@everywhere
def test_the_mean_and_sum_of_bare_features_are_the_same_where_they_are_said_to_be(how):
    for number in range(5):
        first, second = twins(how, number)
        same_mean = np.allclose(bare(first, np.mean), bare(second, np.mean), atol=1e-12)
        same_sum = np.allclose(bare(first, np.sum), bare(second, np.sum), atol=1e-12)
        assert same_mean == (how.task in ("count", "pairs"))
        assert same_sum == (how.task == "pairs")


def vector(one, pool, **options):
    """The pooled vector of an object in a network with initial weights."""
    torch.manual_seed(1)
    settings = NetworkSettings.model_validate({"pool": pool} | options)
    model = GraphNetwork(one.features.shape[1], 2, settings).eval().double()
    edges = Edges.from_index(torch.from_numpy(one.edges), num_nodes=len(one.features))
    ptr = torch.tensor([0, len(one.features)])
    with torch.no_grad():
        return model.represent(torch.from_numpy(one.features), ptr, edges)[0]


def same(how, pool, **options):
    first, second = (vector(one, pool, **options) for one in twins(how))
    return torch.allclose(first, second, atol=1e-9)


@everywhere
def test_no_network_before_a_maximum_tells_twins_apart(how):
    assert same(how, "max")


@everywhere
@pytest.mark.parametrize("pool", ["mean", "max+mean", "attention"])
def test_no_network_before_a_mean_tells_few_from_many_and_any_does_the_rest(how, pool):
    assert same(how, pool) == (how.task == "count")


@everywhere
@pytest.mark.parametrize("pool", ["loop", "image", "learned-spatial"])
def test_latent_structures_tell_all_twins_apart_but_few_from_many_only_by_sums(how, pool):
    assert not same(how, pool, reduction="sum")
    for reduction in ("mean", "mass"):
        assert same(how, pool, reduction=reduction) == (how.task == "count")


@everywhere
def test_the_sum_after_a_network_tells_all_twins_apart(how):
    assert not same(how, "sum")


def counted(graphs, number, how):
    """Count parts by the features of the nodes."""
    one = graphs[number]
    left, right = one.attributes[:, : how.part_types], one.attributes[:, how.part_types :]
    if how.form == "set":
        pairs = zip(left.argmax(1).tolist(), right.argmax(1).tolist(), strict=True)
    else:
        is_left = left.abs().sum(1) > 0
        joined = one.edge_dst[one.edge_ptr[:-1][is_left]]
        pairs = zip(left[is_left].argmax(1).tolist(), right[joined].argmax(1).tolist(), strict=True)
    found = np.zeros((how.part_types, how.part_types), dtype=np.int64)
    for a, b in pairs:
        found[a, b] += 1
    return found


@everywhere
def test_a_rule_made_by_hand_is_always_right(how):
    how = how.model_copy(update={"larger": True})
    graphs = parts(how)
    assert len(graphs) == 20
    found = [class_of(how, counted(graphs, number, how)) for number in range(len(graphs))]
    assert found == graphs.y.tolist() == [0, 1] * 10


@everywhere
def test_parts_of_a_graph_are_joined_in_themselves_and_to_nothing_else(how):
    one = draw_object(how, 3)
    if how.form == "set":
        assert one.edges.shape == (2, 0)
        assert len(one.features) == one.counts.sum()
        return
    assert len(one.features) == 2 * one.counts.sum()
    degrees = np.bincount(one.edges[0], minlength=len(one.features))
    assert (degrees == 1).all()
    np.testing.assert_array_equal(one.edges[0], one.edges[1][one.edges[1]])


@given(number=st.integers(0, 50), label=st.sampled_from([0, 1]))
def test_an_object_depends_on_nothing_but_its_number(number, label):
    one, again = (draw_object(ALL[3], number, label) for _ in range(2))
    np.testing.assert_array_equal(one.features, again.features)


def test_sets_with_larger_objects_begin_like_those_without():
    small = parts(ALL[2])
    both = parts(ALL[2].model_copy(update={"larger": True}))
    assert torch.equal(both[range(10)].attributes, small.attributes)
    assert torch.equal(both.y[:10], small.y)
    assert both.ptr.diff()[10:].min() > both.ptr.diff()[:10].max()
    other = parts(ALL[2].model_copy(update={"seed": 1}))
    assert not torch.equal(other.ptr, small.ptr) or not torch.equal(
        other.attributes, small.attributes
    )


def test_noise_makes_the_kinds_of_each_object_look_their_own_way():
    plain, loud = (draw_object(PartsSettings(task="share", noise=noise), 0) for noise in (0, 1))
    assert set(np.unique(plain.features)) == {0.0, 1.0}
    assert len(np.unique(loud.features, axis=0)) == len(np.unique(plain.features, axis=0))
    assert not np.isin(loud.features, (1.0,)).any()


def test_small_ones_train_and_their_larger_namesakes_test():
    graphs = parts(PartsSettings(task="share", form="set", objects=20, larger=True))
    splits = train_small_test_large(graphs, folds=4, seed=2, validation=0.2)
    small = stratified_folds(graphs.y[:20].numpy(), folds=4, seed=2, validation=0.2)
    assert [(one.train, one.validation) for one in splits] == [
        (one.train, one.validation) for one in small
    ]
    assert sorted(graph for one in splits for graph in one.test) == list(range(20, 40))
    sizes = graphs.ptr.diff()
    for one in splits:
        seen = sizes[list(one.train + one.validation)].max()
        assert sizes[list(one.test)].min() > seen
        # No larger copy of a training graph is tested.
        assert not {graph - 20 for graph in one.test} & {*one.train, *one.validation}
