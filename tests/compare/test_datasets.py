import re

import pytest
import torch

from lfds.compare.datasets import (
    check_classes,
    check_folds,
    encoding_for,
    load_datasets,
    prepare_datasets,
)
from lfds.config.comparison import make_spec
from lfds.config.messages import SpecError
from lfds.data.encodings import RWSE
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.splits import stratified_folds
from lfds.data.storage import content_of
from tests.compare.small import graphs, spec_for


def test_datasets_are_saved_once_for_all_processes(tmp_path):
    spec = spec_for(tmp_path)
    prepared = prepare_datasets(spec, load_datasets(spec, tmp_path), tmp_path / "run")
    assert [data.name for data in prepared] == ["rings"]
    file = prepared[0].path / "graphs.safetensors"
    assert GraphSet.load(prepared[0].path).equals(graphs())
    written = file.stat().st_mtime_ns
    assert prepare_datasets(spec, load_datasets(spec, tmp_path), tmp_path / "run") == prepared
    assert file.stat().st_mtime_ns == written


def test_the_hash_depends_on_every_graph_and_their_order():
    whole = graphs()
    hashes = {content_of(whole), content_of(whole[range(11)]), content_of(graphs(classes=3))}
    swapped = whole[[1, 0, *range(2, 12)]]
    assert len({*hashes, content_of(swapped)}) == 4
    assert content_of(whole[range(12)]) == content_of(whole)


def test_a_subset_of_graphs_has_the_classes_in_proportion(tmp_path):
    (few,) = load_datasets(spec_for(tmp_path, graphs=8, validation=0.3), tmp_path)
    assert torch.bincount(few.y).tolist() == [4, 4]


def test_nodes_without_features_get_a_structural_encoding():
    spec = make_spec({})
    assert encoding_for(graphs(), spec).structure == ()
    bare = GraphSet.from_arrays([3, 3], [[0, 1, 3], [1, 2, 4]], [0, 1])
    assert encoding_for(bare, spec).structure == (RWSE(),)
    chosen = make_spec({"encoding": {"labels": False}})
    assert not encoding_for(graphs(), chosen).labels


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda g: g, {"folds": 7}, r"7 folds need as many .* has 6; use folds=6 or fewer"),
        (lambda g: g[range(1, 12)], {"folds": 6}, r"class 0 has 5; use folds=5"),
        (
            lambda g: g,
            {"validation": 0.01},
            r"validation=0.01 of the 6 graphs .* none to validate on; use .* from 0.17 to 0.83",
        ),
        (
            lambda g: g,
            {"validation": 0.99, "folds": 3},
            r"validation=0.99 of the 8 graphs .* none to train on; use .* from 0.13 to 0.87",
        ),
    ],
)
def test_graphs_that_cannot_be_split_into_folds_are_refused(tmp_path, change, options, message):
    with pytest.raises(SpecError, match=message):
        check_folds(change(graphs()), spec_for(tmp_path, **options))


@pytest.mark.parametrize("per_class", range(2, 9))
@pytest.mark.parametrize("folds", [2, 3, 8])
def test_the_suggested_shares_work(tmp_path, per_class, folds):
    some, folds = graphs(2, per_class), min(folds, per_class)
    with pytest.raises(SpecError, match="use a share") as caught:
        check_folds(some, spec_for(tmp_path, validation=1e-9, folds=folds))
    for share in map(float, re.findall(r"from (\S+) to (\S+)$", str(caught.value))[0]):
        check_folds(some, spec_for(tmp_path, validation=share, folds=folds))
        stratified_folds(some.y.numpy(), folds=folds, seed=0, validation=share)


def test_a_dataset_of_one_class_is_refused():
    with pytest.raises(SpecError, match=r"all 6 graphs are of class 0; .* at least 2 classes"):
        check_classes(graphs()[range(0, 12, 2)])


def test_regression_targets_are_refused():
    targets = GraphSet.from_arrays([2, 2], [[0], [1]], [0.5, 0.7])
    with pytest.raises(SpecError, match="the targets are no classes"):
        check_classes(targets)


def test_graphs_without_labels_are_refused():
    with pytest.raises(SpecError, match="the graphs have no labels"):
        check_classes(GraphSet.from_arrays([2, 2], [[0], [1]]))


def test_a_class_without_graphs_is_ignored(tmp_path):
    three = graphs(classes=3)
    two = three[[number for number in range(len(three)) if number % 3]]
    check_classes(two)
    check_folds(two, spec_for(tmp_path))


def test_an_unknown_name_gets_the_closest_one(tmp_path):
    with pytest.raises(DataError, match="did you mean 'ENZYMES'"):
        load_datasets(make_spec({"data": ["ENZYME"]}), tmp_path)


def test_two_datasets_of_one_name_are_refused(tmp_path):
    graphs().save(tmp_path / "one")
    graphs().save(tmp_path / "two")
    spec = spec_for(tmp_path, data=[str(tmp_path / "one"), str(tmp_path / "two")])
    with pytest.raises(SpecError, match="a name of its own, not rings, rings"):
        load_datasets(spec, tmp_path)


def test_coordinates_do_not_change_the_hash():
    bare = GraphSet.from_arrays([2, 2], [[], []], [0, 1])
    placed = GraphSet.from_arrays([2, 2], [[], []], [0, 1], coordinates=torch.randn(4, 3))
    assert content_of(bare) == content_of(placed)
