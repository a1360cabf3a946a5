import numpy as np
import pytest
import torch
from torch.testing import assert_close

from lfds.data import DataError, GraphSet
from lfds.data.concat import concat
from lfds.data.readers.arrays import targets_from, without_features
from lfds.data.validation import check_valid

PATH = [[0, 1], [1, 0]]


def test_attributes_are_the_features_until_encoded():
    graphs = GraphSet.from_arrays([2], PATH, attributes=[1.0, 2.0])
    assert graphs.x is graphs.attributes
    assert graphs.x.tolist() == [[1.0], [2.0]]
    assert without_features(graphs).x.shape == (2, 0)


def test_tensors_lists_and_arrays_give_equal_sets():
    plain = GraphSet.from_arrays([2], PATH, [3], labels=[1, 2])
    tensors = GraphSet.from_arrays(
        torch.tensor([2]), torch.tensor(PATH), torch.tensor([3]), labels=torch.tensor([[1], [2]])
    )
    arrays = GraphSet.from_arrays(np.array([2]), np.array(PATH), np.array([3]), labels=[1, 2])
    assert plain.equals(tensors)
    assert plain.equals(arrays)


def test_tensors_of_any_dtype_are_accepted():
    small = (torch.bfloat16, torch.float16, torch.float8_e4m3fn)
    plain = (torch.ones(2, 1).to(dtype) for dtype in small)
    for values in (torch.ones(2, 1, requires_grad=True), *plain):
        graphs = GraphSet.from_arrays([2], PATH, attributes=values)
        assert graphs.x.tolist() == [[1.0], [1.0]]
        assert not graphs.x.requires_grad


def test_repeated_edges_are_counted_and_dropped():
    graphs = GraphSet.from_arrays([2], [[0, 1, 0], [1, 0, 1]])
    assert graphs.num_edges == 2
    assert graphs.provenance["duplicate_edges_removed"] == 1


@pytest.mark.parametrize(
    ("y", "found", "classes"),
    [
        ([-1, 1], [0, 1], (-1, 1)),
        (["b", "a"], [1, 0], ("a", "b")),
        ([True, False], [1, 0], (0, 1)),
        ([[5], [4]], [1, 0], (4, 5)),
        (np.array([9, 9], dtype=np.uint8), [0, 0], (9,)),
    ],
)
def test_integers_and_names_are_classes(y, found, classes):
    targets, names = targets_from(y, 2)
    assert targets.tolist() == found
    assert names == classes
    assert all(type(name) in (int, str) for name in names)


@pytest.mark.parametrize(
    ("y", "shape"), [([0.5, 1], (2,)), ([[1.0], [2]], (2,)), ([[1.0, 2]] * 2, (2, 2))]
)
def test_floats_are_regression_targets(y, shape):
    targets, classes = targets_from(y, 2)
    assert targets.shape == shape
    assert classes == ()
    assert targets.dtype == torch.float32


def test_without_y_there_are_no_targets_and_classes():
    graphs = GraphSet.from_arrays([1, 1], [[], []])
    assert_close(graphs.y, torch.zeros(2, 0))
    assert (graphs.has_targets, graphs.num_classes) == (False, 0)
    for y in ([0, 0], [0.0, 0.0], [[0.0, 1.0]] * 2, ["a", "a"]):
        assert GraphSet.from_arrays([1, 1], [[], []], y).has_targets


def test_graphs_without_targets_stay_without(tmp_path):
    graphs = GraphSet.from_arrays([1, 2], [[1], [2]])
    graphs.save(tmp_path / "set")
    for same in (
        graphs[1],
        concat([graphs, graphs]),
        GraphSet.load(tmp_path / "set"),
        GraphSet.from_pyg(graphs.to_pyg()),
        graphs.with_features(torch.ones(3, 1)),
    ):
        assert not same.has_targets
    with pytest.raises(DataError, match="the TU format needs targets, and the graphs have none"):
        graphs.to_tu(tmp_path / "tu")
    assert not (tmp_path / "tu").exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sizes": []}, "sizes: needs at least one graph"),
        ({"sizes": [-1]}, "sizes: graph 0 has -1 nodes"),
        ({"sizes": [2.5]}, "sizes: needs whole numbers"),
        ({"sizes": [[2]]}, r"sizes: needs shape \[n\]"),
        ({"sizes": [[2], [1, 2]]}, "sizes: needs an array with rows of equal"),
        ({"edge_index": [[0, 1, 2], [1, 0, 0]]}, "names node 2, but the nodes are 0 to 1"),
        ({"edge_index": [[0, 1]]}, r"edge_index: needs shape \[2, n\]"),
        ({"y": [1, 2]}, "one target for each of 1 graphs"),
        ({"y": 3}, "one target for each of 1 graphs"),
        ({"y": [float("nan")]}, "finite"),
        ({"y": [["a", "b"]]}, "one integer, string or float per graph, or one row of numbers"),
        ({"y": [[1.0, float("inf")]]}, "y: row 0 holds .*inf.*, but needs finite"),
        ({"y": [[float("nan")]]}, "y: row 0 holds 'nan', but needs finite"),
        ({"attributes": [[1.0]]}, "attributes: needs 2 rows"),
        (
            {"attributes": [1.0, float("inf")]},
            "attributes: row 1 holds .*inf.*, but needs finite",
        ),
        ({"attributes": [[0.0], [1e300]]}, "attributes: row 1 holds .*1e.300.*scale the column"),
        ({"edge_attributes": [[-1e39], [0.0]]}, "edge_attributes: row 0 holds"),
        ({"y": [1e300]}, "y: row 0 holds '1e.300'"),
        ({"y": np.array([2**63], dtype=np.uint64)}, "y: needs whole numbers up to 9223"),
        ({"sizes": np.array([2**64 - 1], dtype=np.uint64)}, "sizes: needs whole numbers up to"),
        (
            {"labels": np.array([1, 2**64 - 1], dtype=np.uint64)},
            "labels: needs whole numbers up to 9223372036854775807, not '18446744073709551615'",
        ),
        ({"attributes": [[1.0], [1.0, 2.0]]}, "attributes: needs an array with rows"),
        ({"labels": [[1], [1, 2]]}, "labels: needs an array with rows of equal length"),
        ({"y": [[1.0, 2.0], [1.0]]}, "y: needs an array"),
        ({"attributes": ["a", "b"]}, "attributes: needs numbers"),
        ({"labels": [0.5, 1.5]}, "labels: needs whole numbers"),
        ({"edge_labels": [1]}, "edge_labels: needs 2 rows"),
    ],
)
def test_invalid_input_is_named(given, message):
    with pytest.raises(DataError, match=message):
        GraphSet.from_arrays(**{"sizes": [2], "edge_index": PATH, **given})


@pytest.mark.parametrize(
    "values",
    [torch.ones(2, 1, device="meta"), torch.ones(2, 1).to_sparse()],
    ids=["meta", "sparse"],
)
def test_tensors_without_dense_numbers_are_refused(values):
    with pytest.raises(DataError, match="attributes: needs a dense tensor of numbers, not torch"):
        GraphSet.from_arrays([2], [[], []], attributes=values)


@pytest.mark.parametrize(
    ("y", "classes", "stored"),
    [
        ([[3, 7], [7, 7]], (3, 7), [[0, 1], [1, 1]]),
        ([[True, False], [True, True]], (0, 1), [[1, 0], [1, 1]]),
        ([[0, 1], [2, 0]], (), [[0, 1], [2, 0]]),
        ([[1, 1], [1, 1]], (), [[1, 1], [1, 1]]),
        ([[0.0, 1.0], [float("nan"), 0.0]], (), [[0, 1], [-9, 0]]),
    ],
)
def test_two_whole_numbers_are_the_classes_of_several_targets(y, classes, stored):
    graphs = GraphSet.from_arrays([1, 1], [[], []], y)
    assert graphs.classes == classes
    assert graphs.y.dtype == (torch.int64 if classes else torch.float32)
    assert graphs.y.nan_to_num(-9).tolist() == stored
    check_valid(graphs, source="y")
