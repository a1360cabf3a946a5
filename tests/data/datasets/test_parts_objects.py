import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lfds.data.datasets.parts import PartsSettings, draw_object, parts, train_small_test_large
from lfds.data.splits import stratified_folds
from lfds.nn import Edges, GraphNetwork, NetworkSettings
from tests.data.datasets.test_parts_counts import class_of

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
def test_twins_have_equal_maxima_of_features(how):
    for number in range(5):
        first, second = twins(how, number)
        np.testing.assert_array_equal(bare(first, np.max), bare(second, np.max))
        np.testing.assert_array_equal(bare(first, np.min), bare(second, np.min))


@everywhere
def test_means_and_sums_of_features_of_twins_are_equal_as_documented(how):
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
def test_max_pooling_cannot_separate_twins(how):
    assert same(how, "max")


@everywhere
@pytest.mark.parametrize("pool", ["mean", "max+mean", "attention"])
def test_mean_pooling_cannot_separate_twins_of_the_count_task(how, pool):
    assert same(how, pool) == (how.task == "count")


@everywhere
@pytest.mark.parametrize("pool", ["loop", "image", "learned-spatial"])
def test_latent_structures_separate_twins_and_counts_only_with_sums(how, pool):
    # By themselves: the statistics that stand beside them by default have the number of nodes.
    assert not same(how, pool, reduction="sum", flat_readout="max")
    for reduction in ("mean", "mass"):
        found = same(how, pool, reduction=reduction, flat_readout="max")
        assert found == (how.task == "count")


@everywhere
def test_sum_pooling_separates_all_twins(how):
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
def test_the_class_follows_from_the_counts(how):
    how = how.model_copy(update={"larger": True})
    graphs = parts(how)
    assert len(graphs) == 20
    found = [class_of(how, counted(graphs, number, how)) for number in range(len(graphs))]
    assert found == graphs.y.tolist() == [0, 1] * 10


@everywhere
def test_the_two_nodes_of_a_part_are_connected_to_each_other_only(how):
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
def test_an_object_depends_on_its_number_only(number, label):
    one, again = (draw_object(ALL[3], number, label) for _ in range(2))
    np.testing.assert_array_equal(one.features, again.features)


def test_larger_objects_follow_the_same_small_ones():
    small = parts(ALL[2])
    both = parts(ALL[2].model_copy(update={"larger": True}))
    assert torch.equal(both[range(10)].attributes, small.attributes)
    assert torch.equal(both.y[:10], small.y)
    assert both.ptr.diff()[10:].min() > both.ptr.diff()[:10].max()
    other = parts(ALL[2].model_copy(update={"seed": 1}))
    assert not torch.equal(other.ptr, small.ptr) or not torch.equal(
        other.attributes, small.attributes
    )


def test_noise_changes_the_features_of_each_part_type():
    plain, loud = (draw_object(PartsSettings(task="share", noise=noise), 0) for noise in (0, 1))
    assert set(np.unique(plain.features)) == {0.0, 1.0}
    assert len(np.unique(loud.features, axis=0)) == len(np.unique(plain.features, axis=0))
    assert not np.isin(loud.features, (1.0,)).any()


def test_small_objects_are_trained_and_large_ones_tested():
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
