import numpy as np
import pytest
import torch

import lfds
from lfds.data.errors import DataError
from lfds.estimator.output_decoding import ClassDecoder, ValueDecoder
from lfds.explain.capture import latent_pools
from lfds.explain.compute import (
    EXTRA_READOUTS,
    atlas_numbers,
    node_positions,
    predictions,
    spread_over_classes,
    true_classes,
    true_values,
    undirected_edges,
    with_targets,
)
from lfds.nn.pool import READOUTS
from tests.explain.models import clouds, fitted, paths, pool_inputs


def numbers_of(model, graphs, shown, **sizes):
    return atlas_numbers(model.network_, model.encoder_, graphs, model.decoder_, shown, **sizes)


@pytest.mark.parametrize("structure", lfds.STRUCTURES)
def test_shares_are_those_of_the_pool(structure):
    model = fitted(structure)
    made = numbers_of(model, clouds(), [11, 2])
    batch = model.encoder_.transform(clouds()).batch([11, 2])
    network = model.network_.eval()
    (pool,) = latent_pools(network)
    with torch.no_grad():
        nodes = pool_inputs(network, batch)
        together = pool.shares(nodes, ptr=batch.ptr).numpy()
    for view, rows in zip(made.graphs, (together[:20], together[20:]), strict=True):
        np.testing.assert_allclose(view.shares[0], rows, atol=1e-6)
        np.testing.assert_allclose(made.pools[0].mass[view.number], rows.mean(axis=0), atol=1e-6)
    assert [view.number for view in made.graphs] == [11, 2]


def test_sums_of_mass_picks_and_effects():
    model = fitted()
    made = numbers_of(model, clouds(), [0])
    pool = made.pools[0]
    assert pool.mass.shape == (16, 9)
    np.testing.assert_allclose(pool.mass.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(pool.picks.sum(axis=2), 8, rtol=1e-5)  # channels
    view = made.graphs[0]
    found = 1 / (1 + np.exp(-view.scores))
    np.testing.assert_allclose(found, made.probabilities[0], rtol=1e-4)
    added = view.reference + view.beside + view.slot_effects[0].sum(axis=0)
    np.testing.assert_allclose(added, view.scores, atol=0.05)
    # Maxima and weighted sums after two latent layers, and the maxima of two layers of the base.
    assert made.head_channels == (32, 81)
    np.testing.assert_allclose(made.probabilities, model.predict_proba(clouds()), atol=1e-6)
    assert made.target.tolist() == clouds().y.tolist()


def test_several_structures():
    model = fitted("image+loop+learned-spectral")
    made = numbers_of(model, clouds(), [4])
    assert [pool.name for pool in made.pools] == ["Image", "Loop", "LearnedSpectrum"]
    batch = model.encoder_.transform(clouds()).batch([4])
    network = model.network_.eval()
    with torch.no_grad():
        nodes = pool_inputs(network, batch)
        for pool, shares in zip(latent_pools(network), made.graphs[0].shares, strict=True):
            np.testing.assert_allclose(shares, pool.shares(nodes, ptr=batch.ptr), atol=1e-6)
    assert made.head_channels == (32, 32, 32, 145)


def test_every_readout_is_described():
    assert set(EXTRA_READOUTS) == set(READOUTS)
    (pool,) = numbers_of(fitted(), clouds(), [0]).pools
    assert pool.extra_readout == "learned weighted sums"


def test_the_sizes_of_pieces_and_batches_have_no_effect():
    model = fitted()
    whole = numbers_of(model, clouds(), [0]).pools[0]
    parts = numbers_of(model, clouds(), [0], nodes_of_a_piece=100, nodes_of_a_batch=45).pools[0]
    np.testing.assert_allclose(parts.mass, whole.mass, atol=1e-6)
    np.testing.assert_allclose(parts.picks, whole.picks, atol=1e-6)


def test_graphs_with_coordinates_are_drawn_at_them():
    view = numbers_of(fitted(), clouds(), [3]).graphs[0]
    assert view.has_coordinates
    assert view.positions.shape == (20, 3)
    own = clouds().coordinates[60:80].numpy()
    ratio = np.linalg.norm(view.positions[0] - view.positions[1]) / np.linalg.norm(own[0] - own[1])
    distances = np.linalg.norm(view.positions[:, None] - view.positions[None], axis=2)
    np.testing.assert_allclose(
        distances, ratio * np.linalg.norm(own[:, None] - own[None], axis=2), rtol=1e-3, atol=1e-5
    )


def test_graphs_without_coordinates_are_laid_out():
    graphs = paths()
    made = numbers_of(fitted(), graphs, range(len(graphs)))
    assert [len(view.positions) for view in made.graphs] == [1, 2, 3, 4, 5, 6, 0]
    assert not any(view.has_coordinates for view in made.graphs)
    assert made.graphs[3].edges.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert made.target.tolist() == [-1] * 7


@pytest.mark.parametrize(("width", "drawn"), [(1, 2), (2, 2), (3, 3), (5, 3)])
def test_coordinates_of_any_width_are_drawn_in_two_or_three(width, drawn):
    places = np.random.default_rng(0).normal(size=(4, width))
    graph = lfds.GraphSet.from_arrays([4], [[], []], coordinates=places)
    assert node_positions(graph, undirected_edges(graph)).shape == (4, drawn)


def test_edges_are_listed_once_without_self_loops():
    graph = lfds.GraphSet.from_arrays([3], [[0, 1, 2, 1, 2], [1, 0, 1, 1, 2]])
    assert undirected_edges(graph).tolist() == [[0, 1], [1, 2]]


def test_graphs_are_chosen_from_all_classes():
    target = [0, 0, 0, 0, 1, 2, 1]
    assert spread_over_classes(target, 3) == [0, 4, 5]
    assert spread_over_classes(target, 5) == [0, 1, 4, 5, 6]
    assert spread_over_classes(target, 99) == list(range(7))


def one_node_graphs(y):
    return lfds.GraphSet.from_arrays([1] * 3, [[], []], y)


def test_true_classes_are_found_by_name():
    graphs = one_node_graphs(["dog", "cat", "emu"])
    assert true_classes(graphs, ("emu", "dog")).tolist() == [1, -1, 0]
    assert true_classes(one_node_graphs([7, 5, 7]), (5, 7)).tolist() == [1, 0, 1]


def test_graphs_without_classes_have_no_true_class():
    assert true_classes(one_node_graphs(None), (0, 1)).tolist() == [-1] * 3
    assert true_classes(one_node_graphs([0.5, 1.5, 2.5]), (0, 1)).tolist() == [-1] * 3


def test_true_classes_are_compared_whatever_their_type():
    assert true_classes(one_node_graphs([0, 0, 0]), (0, 1)).tolist() == [0, 0, 0]
    assert true_classes(one_node_graphs([0, 1, 0]), (0.0, 1.0)).tolist() == [0, 1, 0]
    assert true_classes(one_node_graphs([True, False, True]), (False, True)).tolist() == [1, 0, 1]
    assert true_classes(one_node_graphs(["1", "0", "1"]), (0, 1)).tolist() == [1, 0, 1]


def test_true_values_need_as_many_targets():
    assert true_values(one_node_graphs([0.5, 1.5, 2.5]), 1).tolist() == [[0.5], [1.5], [2.5]]
    assert true_values(one_node_graphs([7, 5, 7]), 1).tolist() == [[7], [5], [7]]
    assert true_values(one_node_graphs([0, 0, 0]), 1).tolist() == [[0]] * 3
    for y in (None, ["a", "b", "c"]):
        assert np.isnan(true_values(one_node_graphs(y), 1)).all()
    assert np.isnan(true_values(one_node_graphs([0.5, 1.5, 2.5]), 2)).all()


def test_predictions_of_a_classifier_use_the_temperature():
    outputs = np.float32([[0, 2], [1, 0], [0, 0]])
    decoder = ClassDecoder(names=("a", "b"), temperature=2.0)
    found = predictions(outputs, one_node_graphs(["a", "b", "b"]), decoder)
    assert found["probabilities"][0, 1] == pytest.approx(1 / (1 + np.exp(-1)))
    assert found["target"].tolist() == [0, 1, 1]
    assert found["values"].shape == (3, 0)


def test_predictions_of_a_regressor_are_in_the_units_of_the_targets():
    decoder = ValueDecoder(means=(10.0,), scales=(2.0,), single=True)
    found = predictions(np.float32([[0], [1], [-1]]), one_node_graphs([9.0, 12.0, 8.5]), decoder)
    assert found["values"].tolist() == [[10], [12], [8]]
    assert found["true_values"].tolist() == [[9], [12], [8.5]]
    assert found["classes"] == ()


@pytest.mark.parametrize(
    ("names", "y", "indices"),
    [
        ((0, 1), [1.0, 0.0, 1.0], [1, 0, 1]),
        ((0, 1), [0, 0, 0], [0, 0, 0]),
        ((False, True), [True, False, True], [1, 0, 1]),
        ((2, 10), [10, 2, 10], [1, 0, 1]),
        ((0.0, 1.0), [1, 0, 1], [1, 0, 1]),
        (("a", "b"), np.array([["b"], ["a"], ["b"]], dtype=object), [1, 0, 1]),
    ],
)
def test_given_labels_are_read_as_by_an_estimator(names, y, indices):
    given = with_targets(one_node_graphs([5, 6, 7]), y, ClassDecoder(names=names))
    assert true_classes(given, names).tolist() == indices


def test_given_values_need_as_many_targets_as_the_model():
    decoder = ValueDecoder(means=(0.0,), scales=(1.0,), single=True)
    for y in ([0, 0, 0], [0.0, 0.0, 0.0], [[0], [0], [0]]):
        assert true_values(with_targets(one_node_graphs(None), y, decoder), 1).tolist() == [[0]] * 3
    with pytest.raises(DataError, match="y: has 2 targets for each graph, and the model 1"):
        with_targets(one_node_graphs(None), [[1, 2]] * 3, decoder)


def test_a_given_label_has_to_be_a_class_of_the_model():
    with pytest.raises(DataError, match="label 'c' is none of the classes a, b"):
        with_targets(one_node_graphs(None), ["a", "b", "c"], ClassDecoder(names=("a", "b")))
