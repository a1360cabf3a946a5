import json

import pytest
import torch

from lfds.compare.given_splits import (
    SAME_GRAPHS,
    GivenSplits,
    find_splits,
    has_own_folds,
    saved_splits,
    with_given_folds,
)
from lfds.compare.protocol import split_of
from lfds.config.comparison import make_spec
from lfds.config.messages import SpecError
from lfds.config.migrations import legacy_defaults
from lfds.config.network import NetworkSettings
from lfds.config.training import TrainingSettings
from lfds.data.errors import DataError
from lfds.data.graphset import GraphSet
from lfds.data.sources import load_dataset
from lfds.data.splits import Split, read_splits, save_splits, stratified_folds
from lfds.results.record import key_of
from tests.compare.small import graphs, spec_for, tasks_for
from tests.data.graphs import SHARED, needs_shared

BACKWARDS = (
    Split((6, 7, 8, 9), (10, 11), (0, 1, 2, 3, 4, 5)),
    Split((0, 1, 2), (3, 4, 5), (6, 7, 8, 9, 10, 11)),
)


def given(folder, splits=BACKWARDS, name="rings_splits.json", **options):
    """Return a spec whose splits are in files, with or without a number of folds."""
    save_splits(splits, folder / name)
    small = {"data": [str(folder / "rings")], "pools": ["max"], "epochs": 2, "batch_size": 4}
    spec_for(folder)
    network = {"options": {"width": 8, "head_width": 8, "slots": 4}}
    return make_spec(small | network | {"splits": str(folder)} | options)


def test_every_part_of_every_fold_is_that_of_the_file(tmp_path):
    for protocol in ("fair", "paper"):
        spec = given(tmp_path, protocol=protocol)
        tasks = tasks_for(tmp_path, **options_of(spec))
        assert [task.fold.folds for task in tasks] == [2, 2]
        assert tuple(split_of(task, graphs()) for task in tasks) == BACKWARDS
    stratified = tasks_for(tmp_path)
    assert tuple(split_of(task, graphs()) for task in stratified) != BACKWARDS


def options_of(spec):
    """Return the options of a spec, for the helper that has other defaults."""
    return spec.model_dump(exclude={"folds"}) | {"folds": 2}


def test_the_content_of_the_splits_determines_the_key_and_their_file_does_not(tmp_path):
    first = tasks_for(tmp_path, splits=given(tmp_path).splits)[0]
    (tmp_path / "other").mkdir()
    save_splits(BACKWARDS, tmp_path / "other" / "any.json")
    moved = tasks_for(tmp_path, splits=f"rings={tmp_path / 'other' / 'any.json'}")[0]
    assert moved.key == first.key
    save_splits(BACKWARDS[::-1], tmp_path / "other" / "any.json")
    swapped = tasks_for(tmp_path, splits=f"rings={tmp_path / 'other' / 'any.json'}")[0]
    assert len({first.key, swapped.key, tasks_for(tmp_path)[0].key}) == 3
    # The share of validation graphs has no effect on given splits.
    assert tasks_for(tmp_path, splits=str(tmp_path), validation=0.4)[0].key == first.key
    assert first.settings["splits"] == GivenSplits(BACKWARDS).content
    assert "splits_file" not in first.settings


def test_records_of_stratified_folds_keep_their_keys(tmp_path):
    task = tasks_for(tmp_path)[0]
    settings = {
        "content": task.content,
        "validation": 0.1,
        "encoding": task.encoding.model_dump(mode="json"),
        # Settings that were added later are left out at their earlier values, and those of slots
        # for a maximum, which has none.
        "candidates": [
            {
                "training": one.training.model_dump(
                    mode="json", exclude={*legacy_defaults(TrainingSettings)}
                ),
                "network": {
                    **one.network.model_dump(
                        mode="json", exclude={*legacy_defaults(NetworkSettings)}
                    ),
                    "readout": "max",
                    "anchors": "fixed",
                    "vector_norm": True,
                },
            }
            for one in task.candidates
        ],
    }
    assert task.settings == settings
    assert task.key == key_of(task.fold, settings)


def test_the_hash_depends_on_which_graph_is_in_which_part():
    plain = GivenSplits((Split((0,), (1,), (2,)),))
    others = [((0, 1), (), (2,)), ((1,), (0,), (2,)), ((0,), (2,), (1,))]
    assert len({plain.content, *(GivenSplits((Split(*one),)).content for one in others)}) == 4


def test_splits_are_saved_once_for_all_processes(tmp_path):
    splits = GivenSplits(BACKWARDS)
    path = splits.save(tmp_path / "splits")
    written = path.stat().st_mtime_ns
    assert splits.save(tmp_path / "splits") == path
    assert path.stat().st_mtime_ns == written
    assert saved_splits(path, splits.content) == BACKWARDS


def test_the_number_of_folds_is_that_of_the_file(tmp_path):
    three = stratified_folds(graphs().y.numpy(), folds=3, validation=0.2)
    spec = given(tmp_path, three)
    assert with_given_folds(spec, find_splits(spec, [graphs()])).folds == 3
    spec = given(tmp_path, three, folds=5)
    with pytest.raises(SpecError, match="folds: the given splits have 3, not 5; leave it out"):
        with_given_folds(spec, find_splits(spec, [graphs()]))
    assert with_given_folds(make_spec({"folds": 4}), {}).folds == 4
    paper = given(tmp_path, three, preset="paper")
    assert with_given_folds(paper, find_splits(paper, [graphs()])).folds == 3


def test_all_datasets_need_the_same_number_of_folds():
    both = {"A": GivenSplits(BACKWARDS), "B": GivenSplits(BACKWARDS[:1])}
    with pytest.raises(SpecError, match="the same number of folds, not A 2, B 1"):
        with_given_folds(make_spec({}), both)


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ("nowhere", "a file or NAME=FILE that exists, not 'nowhere'"),
        ("=file.json", "a file or NAME=FILE that exists, not '=file.json'"),
        ("{folder}/empty", r"rings_splits.json is not in .*empty for rings; add rings=FILE"),
        (
            ["rings={folder}/rings_splits.json", "rigns=x"],
            "unknown dataset 'rigns'; did you mean 'rings'",
        ),
    ],
)
def test_missing_splits_are_refused(tmp_path, splits, message):
    (tmp_path / "empty").mkdir()
    entries = [splits] if isinstance(splits, str) else splits
    entries = [entry.format(folder=tmp_path) for entry in entries]
    spec = given(tmp_path).model_copy(update={"splits": tuple(entries)})
    with pytest.raises(SpecError, match=message):
        find_splits(spec, [graphs()])


def test_every_dataset_needs_its_own_file(tmp_path):
    file = f"rings={tmp_path / 'rings_splits.json'}"
    spec = given(tmp_path).model_copy(update={"splits": (file,)})
    other = GraphSet.from_arrays([2, 2], [[0], [1]], [0, 1], name="other")
    with pytest.raises(SpecError, match="splits: no file for other; add other=FILE"):
        find_splits(spec, [graphs(), other])


def test_a_file_needs_no_name_if_there_is_one_dataset(tmp_path):
    file = str(tmp_path / "rings_splits.json")
    spec = given(tmp_path).model_copy(update={"splits": (f"rings={file}",)})
    nameless = spec.model_copy(update={"splits": (file,)})
    assert find_splits(nameless, [graphs()]) == find_splits(spec, [graphs()])
    twice = spec.model_copy(update={"splits": (file, f"rings={file}")})
    with pytest.raises(SpecError, match=r"splits: rings has two files, .*; name one"):
        find_splits(twice, [graphs()])
    other = GraphSet.from_arrays([2, 2], [[0], [1]], [0, 1], name="other")
    message = r"splits: .* needs the name of its dataset; write rings="
    with pytest.raises(SpecError, match=message):
        find_splits(nameless, [graphs(), other])


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        (
            stratified_folds([0, 1] * 7, folds=2, validation=0.3),
            "names graph 12, but the graphs are 0 to 11",
        ),
        (stratified_folds([0, 1] * 5, folds=2, validation=0.3), "leaves out graph 10"),
    ],
)
def test_splits_of_other_graphs_are_refused(tmp_path, splits, message):
    with pytest.raises(DataError, match=message):
        find_splits(given(tmp_path, splits), [graphs()])


@pytest.mark.parametrize(
    ("first", "protocol", "message"),
    [
        (Split(tuple(range(6, 12)), (), tuple(range(6))), "fair", "fold 0 has no validation"),
        (Split((), tuple(range(6, 12)), tuple(range(6))), "paper", "fold 0 has no training"),
    ],
)
def test_a_part_without_graphs_is_refused(tmp_path, first, protocol, message):
    with pytest.raises(SpecError, match=message):
        find_splits(given(tmp_path, (first, BACKWARDS[1]), protocol=protocol), [graphs()])


def test_one_fold_is_refused(tmp_path):
    everything = json.dumps(
        [{"test": [*range(12)], "model_selection": [{"train": [], "validation": []}]}]
    )
    spec = given(tmp_path)
    (tmp_path / "rings_splits.json").write_text(everything)
    with pytest.raises(SpecError, match="at least 2 folds, not 1"):
        find_splits(spec, [graphs()])


def test_the_paper_protocol_needs_no_validation_part(tmp_path):
    without = stratified_folds([0, 1] * 6, folds=2, validation=0)
    spec = given(tmp_path, without, protocol="paper")
    assert find_splits(spec, [graphs()])["rings"].splits == without


LARGER = {"data": ["parts-share-set-larger"], "folds": 3, "validation": 0.2}


def test_datasets_tested_on_larger_graphs_define_their_own_folds():
    spec = make_spec(LARGER)
    graphs = load_dataset("parts-share-set-larger")
    found = find_splits(spec, [graphs])
    assert with_given_folds(spec, found).folds == 3
    splits = found[graphs.name].splits
    assert sorted(graph for one in splits for graph in one.test) == list(range(200, 400))
    other = find_splits(make_spec(LARGER | {"seed": 1}), [graphs])
    assert other[graphs.name].content != found[graphs.name].content
    assert not has_own_folds("parts-share-set")
    assert not has_own_folds("ENZYMES")


def test_datasets_with_their_own_folds_need_all_graphs():
    with pytest.raises(
        SpecError, match=r"^graphs: the folds of parts-share-set-larger need all .* leave it out"
    ):
        find_splits(make_spec(LARGER | {"graphs": 10}), [load_dataset("parts-share-set-larger")])


def test_folds_that_do_not_use_all_graphs_are_saved_and_read(tmp_path):
    some = GivenSplits((Split((0,), (1,), (5,)), Split((1,), (0,), (6,))))
    assert saved_splits(some.save(tmp_path), some.content) == some.splits


@needs_shared
def test_datasets_with_the_same_graphs_share_splits(tmp_path):
    for name, other in SAME_GRAPHS.items():
        one, two = (load_dataset(called, SHARED) for called in (name, other))
        assert torch.equal(one.ptr, two.ptr)
        assert torch.equal(one.y, two.y)
        assert torch.equal(one.labels.sort(dim=0).values, two.labels.sort(dim=0).values)
    spec = make_spec({"splits": str(SHARED / "splits" / "fair")})
    found = find_splits(spec, [load_dataset("PROTEINS", SHARED)])["PROTEINS"]
    assert found.splits == read_splits(SHARED / "splits" / "fair" / "PROTEINS_full_splits.json")


@needs_shared
@pytest.mark.parametrize("name", ["ENZYMES", "PROTEINS", "DD"])
def test_graphs_are_in_the_order_of_the_file(name):
    loaded = load_dataset(name, SHARED)
    folder = SHARED / name
    classes = [int(line) for line in (folder / f"{name}_graph_labels.txt").read_text().split()]
    assert [loaded.classes[number] for number in loaded.y.tolist()] == classes
    of_graph = [int(line) for line in (folder / f"{name}_graph_indicator.txt").read_text().split()]
    sizes = torch.bincount(torch.tensor(of_graph) - 1, minlength=len(classes))
    assert torch.equal(loaded.ptr.diff(), sizes)
    # Nodes are shuffled within their graph only.
    labels = (folder / f"{name}_node_labels.txt").read_text().split()
    sums = torch.zeros(len(classes), dtype=torch.long)
    sums.index_add_(0, torch.tensor(of_graph) - 1, torch.tensor([int(label) for label in labels]))
    found = torch.zeros_like(sums).index_add_(
        0, torch.arange(len(classes)).repeat_interleave(sizes), loaded.labels[:, 0]
    )
    assert torch.equal(found, sums)


def test_splits_that_were_changed_on_disk_are_not_used_and_written_anew(tmp_path):
    splits = GivenSplits((Split((0,), (1,), (2,)), Split((1,), (0,), (2,))))
    path = splits.save(tmp_path)
    before = path.read_bytes()
    path.write_bytes(before.replace(b"2", b"0"))
    with pytest.raises(DataError, match="does not hold the splits that it is named after"):
        saved_splits(path, splits.content)
    assert splits.save(tmp_path) == path
    assert path.read_bytes() == before
