import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.spatial.transform import Rotation

from lfds.data import DataError
from lfds.data.readers.clouds import CloudSettings, graphs_of_clouds, neighbour_edges

FOUR = CloudSettings(points=20, neighbours=4, seed=7)


def edges_slowly(points, neighbours):
    """All distances, sorted; obviously right where no two are equal."""
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    edges = set()
    for node, row in enumerate(distances):
        for other in np.argsort(row)[:neighbours]:
            edges |= {(node, int(other)), (int(other), node)}
    return sorted(edges)


@given(count=st.integers(2, 40), neighbours=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_neighbours_are_the_nearest(count, neighbours, seed):
    neighbours = min(neighbours, count - 1)
    points = np.random.default_rng(seed).normal(size=(count, 3))
    found = neighbour_edges(points, neighbours)
    assert [tuple(pair) for pair in found.T.tolist()] == edges_slowly(points, neighbours)


def test_the_graph_does_not_know_where_a_cloud_stands_or_how_large_it_is():
    points = np.random.default_rng(0).normal(size=(60, 3))
    turned = 5 * Rotation.from_euler("xyz", [1, 2, 3]).apply(points) + 7
    np.testing.assert_array_equal(neighbour_edges(points, 5), neighbour_edges(turned, 5))


@pytest.mark.parametrize("size", [1e-290, 1e-8, 1e14])
def test_very_small_and_very_large_clouds_have_the_same_neighbours(size):
    points = np.random.default_rng(0).normal(size=(60, 3))
    np.testing.assert_array_equal(neighbour_edges(points, 5), neighbour_edges(points * size, 5))


def test_points_in_one_place_are_no_neighbours_of_themselves():
    points = np.zeros((10, 3))
    senders, receivers = neighbour_edges(points, 3)
    assert (senders != receivers).all()
    assert (np.bincount(receivers, minlength=10) >= 3).all()


def test_edges_go_both_ways():
    senders, receivers = neighbour_edges(np.random.default_rng(0).normal(size=(50, 3)), 4)
    there = set(zip(senders.tolist(), receivers.tolist(), strict=True))
    assert there == {(b, a) for a, b in there}


def test_as_many_neighbours_as_points_are_refused():
    with pytest.raises(DataError, match="ask for fewer neighbours"):
        neighbour_edges(np.zeros((4, 3)), 4)


def test_graphs_carry_no_coordinates_but_keep_them_beside():
    clouds = np.random.default_rng(0).normal(size=(3, 20, 3))
    made = graphs_of_clouds(clouds, ["b", "a", "b"], ["x", "y", "z"], settings=FOUR, name="few")
    assert made.graphs.x.shape == (60, 0)
    assert made.graphs.attributes.shape == (60, 0)
    assert made.graphs.classes == ("a", "b")
    assert made.graphs.y.tolist() == [1, 0, 1]
    np.testing.assert_allclose(made.points, clouds, rtol=1e-6)
    single = graphs_of_clouds(clouds[1:2], ["a"], ["y"], settings=FOUR, name="one").graphs
    np.testing.assert_array_equal(made.graphs[1].edge_dst, single.edge_dst)
    assert made.graphs.provenance["seed"] == "7"
    assert made.graphs.provenance["neighbours"] == "4"


def test_settings_refuse_what_they_do_not_know():
    with pytest.raises(ValidationError):
        CloudSettings(neighbors=6)
    with pytest.raises(ValidationError):
        CloudSettings(points=0)


def test_graphs_carry_the_points_for_drawing_alone():
    clouds = np.random.default_rng(0).normal(size=(2, 20, 3))
    made = graphs_of_clouds(clouds, ["a", "b"], ["0", "1"], settings=FOUR, name="two")
    np.testing.assert_array_equal(made.graphs.coordinates.numpy(), made.points.reshape(-1, 3))
    assert made.graphs.x.shape == made.graphs.attributes.shape == (40, 0)
