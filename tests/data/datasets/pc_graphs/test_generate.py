import numpy as np
import pytest
from numpy.testing import assert_allclose
from pydantic import ValidationError
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

from lfds.data.datasets.pc_graphs.generate import (
    PCGraphsSettings,
    bent,
    draw_cloud,
    pc_graphs,
    scanned,
    stretched,
)
from lfds.data.datasets.pc_graphs.surfaces import box
from lfds.data.encodings.base import degrees
from lfds.data.encodings.compute import adjacencies
from lfds.data.encodings.rwse import rwse

FEW = PCGraphsSettings(graphs_per_class=3)


def test_the_same_seed_draws_the_same_graphs():
    first, second = pc_graphs(FEW), pc_graphs(FEW)
    assert first.graphs.equals(second.graphs)
    np.testing.assert_array_equal(first.points, second.points)


def test_another_seed_draws_other_graphs():
    other = pc_graphs(FEW.model_copy(update={"seed": 1}))
    assert not pc_graphs(FEW).graphs.equals(other.graphs)


def test_a_shape_does_not_depend_on_the_number_of_shapes():
    few, more = pc_graphs(FEW), pc_graphs(FEW.model_copy(update={"graphs_per_class": 5}))
    assert few.names == more.names[: len(few.names)]
    np.testing.assert_array_equal(few.points, more.points[: len(few.points)])
    assert few.graphs.equals(more.graphs[: len(few.graphs)])


def test_all_shapes_are_different():
    clouds = [draw_cloud("lamp", number, FEW) for number in range(20)]
    assert len({cloud.tobytes() for cloud in clouds}) == 20


def test_the_set_is_balanced_and_every_graph_has_150_nodes():
    graphs = pc_graphs(FEW).graphs
    assert np.bincount(graphs.y.numpy()).tolist() == [3] * 8
    assert set(graphs.sizes.tolist()) == {150}
    assert (graphs.degrees >= 6).all()


def test_pc_graphs_have_no_node_features():
    graphs = pc_graphs(FEW).graphs
    assert graphs.x.shape[1] == graphs.attributes.shape[1] == graphs.labels.shape[1] == 0


def test_node_order_does_not_correlate_with_position():
    cloud = draw_cloud("airplane", 0, PCGraphsSettings(points=2000, hidden=0.2))
    order = np.arange(2000)
    for axis in range(3):
        assert abs(np.corrcoef(order, cloud[:, axis])[0, 1]) < 0.08


def test_unknown_and_invalid_settings_are_errors():
    with pytest.raises(ValidationError):
        PCGraphsSettings(graphs=4000)
    with pytest.raises(ValidationError):
        PCGraphsSettings(hidden=1.0)


@pytest.mark.slow
def test_pc_graphs_are_neither_trivial_nor_impossible():
    graphs = pc_graphs(PCGraphsSettings(graphs_per_class=60)).graphs
    parts = adjacencies(graphs)

    def accuracy(features):
        forest = RandomForestClassifier(200, random_state=0)
        return cross_val_score(forest, np.stack(features), graphs.y.numpy(), cv=3).mean()

    by_degrees = accuracy([np.bincount(degrees(g).astype(int), minlength=60)[:60] for g in parts])
    by_returns = accuracy(
        [np.quantile(rwse(g, 24), [0, 0.25, 0.5, 0.75, 1], 0).ravel() for g in parts]
    )
    assert by_degrees < 0.3
    assert 0.35 < by_returns < 0.9


def rng():
    return np.random.default_rng(3)


def test_stretching_scales_the_axes():
    before = box((1.0, 1.0, 1.0), (1, 1, 1))
    ratio = stretched(before, rng(), 0.3) / before
    assert_allclose(ratio, np.broadcast_to(ratio[0, 0], ratio.shape))
    assert np.ptp(ratio[0, 0]) > 0.05


def test_bending_keeps_lengths_along_the_middle():
    along = np.linspace(-1, 1, 201)
    line = np.stack([along, np.zeros(201), np.zeros(201)], axis=1)
    curved = bent(line, rng(), 1.5)
    assert_allclose(np.linalg.norm(np.diff(curved, axis=0), axis=1), 0.01, rtol=1e-3)
    straight = np.linalg.norm(curved[-1] - curved[0])
    assert straight < 1.99


def test_no_bend_changes_nothing():
    points = rng().normal(size=(20, 3))
    assert_allclose(bent(points, rng(), 0.0), points)


def test_a_scan_is_centred_and_of_unit_size():
    points = scanned(box((1, 2, 3)), 400, rng(), hidden=0.3, noise=0.0, bend=0.2)
    assert points.shape == (400, 3)
    assert_allclose(points.mean(axis=0), 0, atol=1e-12)
    assert_allclose((points**2).sum(axis=1).mean(), 1.0)


def test_a_partial_scan_lacks_one_side():
    directions = rng().normal(size=(4000, 3, 3)) * 1e-6 + rng().normal(size=(4000, 1, 3))
    ball = directions / np.linalg.norm(directions, axis=2, keepdims=True)
    lost = []
    for seed in range(30):
        points = scanned(ball, 300, np.random.default_rng(seed), hidden=0.5, noise=0, bend=0)
        # The mean was moved to the middle: a whole ball reaches equally far on all sides.
        reach = np.linalg.norm(points, axis=1)
        lost.append(reach.max() / reach.min())
    assert min(lost) < 1.3
    assert max(lost) > 1.8


def test_noise_has_the_given_standard_deviation():
    still = scanned(box((1, 1, 1)), 2000, rng(), hidden=0, noise=0.0, bend=0)
    noisy = scanned(box((1, 1, 1)), 2000, rng(), hidden=0, noise=0.05, bend=0)
    assert_allclose((noisy - still).std(), 0.05, rtol=0.05)
