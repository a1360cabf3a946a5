import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfds.data import DataError
from lfds.data.splits import (
    Split,
    check_splits,
    read_splits,
    save_splits,
    stratified_folds,
    stratified_sample,
)
from tests.data.graphs import SHARED, needs_shared

labels = st.lists(st.integers(0, 3), min_size=4, max_size=60)


@given(
    y=labels, folds=st.integers(2, 4), seed=st.integers(0, 9), share=st.sampled_from([0, 0.1, 0.4])
)
def test_folds_are_disjoint_complete_and_stratified(y, folds, seed, share):
    try:
        splits = stratified_folds(y, folds=folds, seed=seed, validation=share)
    except DataError:  # only where the share is of too few graphs to be one
        assert share > 0
        assert len(y) < 12
        return
    check_splits(splits, len(y), source="made")
    for kind in set(y):
        counts = [sum(y[graph] == kind for graph in split.test) for split in splits]
        assert max(counts) - min(counts) <= 1
        for split in splits:
            rest = split.train + split.validation
            expected = share * sum(y[graph] == kind for graph in rest)
            found = sum(y[graph] == kind for graph in split.validation)
            assert abs(found - expected) <= 1.5
    sizes = [len(split.test) for split in splits]
    assert max(sizes) - min(sizes) <= 1


def test_unstratified_folds_are_detected():
    y = [0] * 20 + [1] * 20
    in_order = [tuple(range(20)), tuple(range(20, 40))]
    counts = [sum(y[graph] == 0 for graph in test) for test in in_order]
    assert max(counts) - min(counts) > 1


def test_folds_depend_on_the_seed_only():
    y = np.arange(90) % 3
    assert stratified_folds(y) == stratified_folds(y.tolist())
    assert stratified_folds(y, seed=1) != stratified_folds(y, seed=0)
    # The validation part does not move the test part.
    less = stratified_folds(y, validation=0.3)
    assert [split.test for split in less] == [split.test for split in stratified_folds(y)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [0, 1], "folds": 3}, "folds: needs 2, the number of graphs, not 3"),
        ({"y": [0, 1, 2], "folds": 1}, "folds: needs 2 to 3"),
        ({"y": [0.5, 1], "folds": 2}, "y: needs one whole number per graph"),
        ({"y": [0, 1], "folds": 2, "validation": 1}, "validation: needs a share"),
        ({"y": [0, 1] * 2, "folds": 2, "validation": 0.1}, "of 2 graphs leaves validation empty"),
        ({"y": [0, 1] * 2, "folds": 2, "validation": 0.9}, "validation: .* leaves train empty"),
    ],
)
def test_invalid_arguments_of_folds_are_named(arguments, message):
    with pytest.raises(DataError, match=message):
        stratified_folds(**arguments)


def test_saved_splits_are_read_equal(tmp_path):
    splits = stratified_folds(np.arange(50) % 2, folds=5)
    save_splits(splits, tmp_path / "splits.json")
    assert read_splits(tmp_path / "splits.json", 50) == splits
    assert read_splits(tmp_path / "splits.json") == splits


@needs_shared
@pytest.mark.parametrize(
    ("name", "graphs"), [("DD", 1178), ("ENZYMES", 600), ("PROTEINS_full", 1113)]
)
def test_published_splits_are_read(name, graphs):
    splits = read_splits(SHARED / "splits" / "fair" / f"{name}_splits.json", graphs)
    assert len(splits) == 10
    assert sum(len(split.test) for split in splits) == graphs


GOOD = (Split((0, 1), (2,), (3, 4)), Split((3,), (4,), (0, 1, 2)))


@pytest.mark.parametrize(
    ("splits", "graphs", "message"),
    [
        ((Split((0, 1), (2, 3), (3, 4)), GOOD[1]), 5, "fold 0 holds graph 3 more than once"),
        ((Split((0,), (2,), (3, 4)), GOOD[1]), 5, "fold 0 leaves out graph 1"),
        (GOOD, 6, "fold 0 leaves out graph 5"),
        (GOOD, 4, "fold 0 names graph 4, but the graphs are 0 to 3"),
        ((GOOD[0], GOOD[0]), 5, "the test parts together leaves out graph 0"),
        ((*GOOD, GOOD[0]), 5, "the test parts together holds graph 3 more than once"),
        ((Split((0, 1), (2,), (3, -4)), GOOD[1]), 5, "fold 0 names graph -4"),
    ],
)
def test_invalid_splits_are_errors_on_reading(splits, graphs, message, tmp_path):
    save_splits(splits, tmp_path / "splits.json")
    with pytest.raises(DataError, match=message):
        read_splits(tmp_path / "splits.json", graphs)


def test_incomplete_splits_are_read_without_check(tmp_path):
    holes = (Split((0,), (1,), (8, 9)),)
    save_splits(holes, tmp_path / "splits.json")
    assert read_splits(tmp_path / "splits.json", check=False) == holes
    with pytest.raises(DataError, match="leaves out graph 2"):
        read_splits(tmp_path / "splits.json")


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({}, "needs a list of folds"),
        ([], "needs a list of folds"),
        ([3], 'fold 0 needs "test" and "model_selection"'),
        ([{"test": [0], "model_selection": []}], 'fold 0 needs "test"'),
        (
            [{"test": ["0"], "model_selection": [{"train": [], "validation": []}]}],
            '"test" as a list',
        ),
        ([{"test": [0], "model_selection": [{"validation": []}]}], '"train" as a list'),
        ([{"test": [0], "model_selection": [7]}], '"train" as a list'),
    ],
)
def test_other_json_is_an_error(entries, message, tmp_path):
    (tmp_path / "splits.json").write_text(json.dumps(entries))
    with pytest.raises(DataError, match=message):
        read_splits(tmp_path / "splits.json")


@pytest.mark.parametrize("content", [b"{", b"\xff\x00", b""])
def test_invalid_json_is_an_error(content, tmp_path):
    (tmp_path / "splits.json").write_bytes(content)
    with pytest.raises(DataError, match=r"splits\.json: cannot be read as JSON"):
        read_splits(tmp_path / "splits.json")
    with pytest.raises(DataError, match=r"nowhere\.json: cannot be read \(No such file"):
        read_splits(tmp_path / "nowhere.json")


def test_splits_do_not_import_torch():
    code = "import sys, lfds.data.splits; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("graphs", [None, 10**15])
def test_a_huge_index_is_an_error_without_using_memory(graphs, tmp_path):
    far = 10**15 - 1
    parts = {"test": [far], "model_selection": [{"train": [0], "validation": []}]}
    (tmp_path / "s.json").write_text(json.dumps([parts]))
    with pytest.raises(DataError, match="leaves out graph 1; every graph must be in one part"):
        read_splits(tmp_path / "s.json", graphs)


def test_a_stratified_sample_has_each_class_in_proportion():
    classes = np.array([0] * 60 + [1] * 30 + [2] * 10)
    sample = stratified_sample(classes, 20, seed=3)
    assert np.bincount(classes[sample]).tolist() == [12, 6, 2]
    assert len(set(sample.tolist())) == 20
    assert sample.tolist() == stratified_sample(classes, 20, seed=3).tolist()
    assert sorted(sample.tolist()) != sorted(stratified_sample(classes, 20, seed=4).tolist())
