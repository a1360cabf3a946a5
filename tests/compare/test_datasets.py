import re

import pytest
import torch

from lfds.compare.datasets import (
    check_classes,
    check_dealing,
    encoding_for,
    load_sets,
    make_ready,
)
from lfds.config.comparison import make_spec
from lfds.config.errors import SpecError
from lfds.data.encodings import RWSE
from lfds.data.errors import DataError
from lfds.data.fingerprint import content_of
from lfds.data.graphset import GraphSet
from lfds.data.splits import stratified_folds
from tests.compare.small import graphs, spec_for


def test_data_are_saved_once_and_open_to_every_process(tmp_path):
    spec = spec_for(tmp_path)
    ready = make_ready(spec, load_sets(spec, tmp_path), tmp_path / "run")
    assert [data.name for data in ready] == ["rings"]
    assert GraphSet.load(ready[0].path).equals(graphs())
    written = (ready[0].path / "graphs.safetensors").stat().st_mtime_ns
    assert make_ready(spec, load_sets(spec, tmp_path), tmp_path / "run") == ready
    assert (ready[0].path / "graphs.safetensors").stat().st_mtime_ns == written


def test_the_content_is_named_by_every_part():
    whole = graphs()
    names = {content_of(whole), content_of(whole[range(11)]), content_of(graphs(classes=3))}
    turned = whole[[1, 0, *range(2, 12)]]
    assert len({*names, content_of(turned)}) == 4
    assert content_of(whole[range(12)]) == content_of(whole)


def test_fewer_graphs_are_taken_of_each_class_in_proportion(tmp_path):
    (few,) = load_sets(spec_for(tmp_path, graphs=8, validation=0.3), tmp_path)
    assert torch.bincount(few.y).tolist() == [4, 4]


def test_nodes_of_which_nothing_is_known_get_their_structure():
    spec = make_spec({})
    assert encoding_for(graphs(), spec).structure == ()
    bare = GraphSet.from_arrays([3, 3], [[0, 1, 3], [1, 2, 4]], [0, 1])
    assert encoding_for(bare, spec).structure == (RWSE(),)
    asked = make_spec({"encoding": {"labels": False}})
    assert not encoding_for(graphs(), asked).labels


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (lambda g: g, {"folds": 7}, r"7 folds need as many .* has 6; use --folds 6 or fewer"),
        (lambda g: g[range(1, 12)], {"folds": 6}, r"0 has 5; use --folds 5"),
        (
            lambda g: g,
            {"validation": 0.01},
            r"--validation 0.01 of the 6 graphs .* none to choose on; use .* from 0.17 to 0.83",
        ),
        (
            lambda g: g,
            {"validation": 0.99, "folds": 3},
            r"--validation 0.99 of the 8 graphs .* none to train on; use .* from 0.13 to 0.87",
        ),
    ],
)
def test_what_cannot_be_dealt_into_folds_is_said(tmp_path, change, options, said):
    with pytest.raises(SpecError, match=said):
        check_dealing(change(graphs()), spec_for(tmp_path, **options))


@pytest.mark.parametrize("per_class", range(2, 9))
@pytest.mark.parametrize("folds", [2, 3, 8])
def test_the_shares_that_are_named_can_be_dealt(tmp_path, per_class, folds):
    some, folds = graphs(2, per_class), min(folds, per_class)
    with pytest.raises(SpecError, match="use a share") as caught:
        check_dealing(some, spec_for(tmp_path, validation=1e-9, folds=folds))
    for share in map(float, re.findall(r"from (\S+) to (\S+)$", str(caught.value))[0]):
        check_dealing(some, spec_for(tmp_path, validation=share, folds=folds))
        stratified_folds(some.y.numpy(), folds=folds, seed=0, validation=share)


def test_one_class_is_nothing_to_compare():
    with pytest.raises(SpecError, match=r"all 6 graphs are of class 0; .* at least 2 classes"):
        check_classes(graphs()[range(0, 12, 2)])


def test_regression_is_not_for_comparing():
    targets = GraphSet.from_arrays([2, 2], [[0], [1]], [0.5, 0.7])
    with pytest.raises(SpecError, match="has no classes"):
        check_classes(targets)


def test_a_class_of_which_no_graph_is_left_does_not_count(tmp_path):
    three = graphs(classes=3)
    two = three[[number for number in range(len(three)) if number % 3]]
    check_classes(two)
    check_dealing(two, spec_for(tmp_path))


def test_names_nobody_knows_get_the_nearest(tmp_path):
    with pytest.raises(DataError, match="did you mean 'ENZYMES'"):
        load_sets(make_spec({"data": ["ENZYME"]}), tmp_path)


def test_two_sets_of_one_name_would_share_a_column(tmp_path):
    graphs().save(tmp_path / "one")
    graphs().save(tmp_path / "two")
    spec = spec_for(tmp_path, data=[str(tmp_path / "one"), str(tmp_path / "two")])
    with pytest.raises(SpecError, match="a name of its own, not rings, rings"):
        load_sets(spec, tmp_path)


def test_coordinates_are_no_part_of_what_is_learned_from():
    bare = GraphSet.from_arrays([2, 2], [[], []], [0, 1])
    placed = GraphSet.from_arrays([2, 2], [[], []], [0, 1], coordinates=torch.randn(4, 3))
    assert content_of(bare) == content_of(placed)
