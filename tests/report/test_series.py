import pytest

from lfds.config.migrations import legacy_defaults
from lfds.config.network import NetworkSettings
from lfds.report.series import Series, differing, settings_of
from tests.report.runs import make_settings, record, records, with_outcome


def series(records, seeds=(0, 1)):
    return Series("fair", "max", "A", "", 3, {}, set(seeds), list(records))


def test_folds_without_a_record_are_missing_by_seed():
    part = series([record("max", "A", 0, folds=3), record("max", "A", 2, failed=True, folds=3)])
    assert part.missing == {0: [1], 1: [0, 1, 2]}
    assert (len(part.done), len(part.failed), part.wanted) == (1, 1, 6)
    assert not part.complete


def test_failed_fold_is_neither_missing_nor_done():
    full = [record("max", "A", fold, folds=3) for fold in range(3)]
    assert series(full, [0]).complete
    failed = record("max", "A", 2, failed=True, folds=3)
    assert series([*full[:2], failed], [0]).missing == {}
    assert not series([*full[:2], failed], [0]).complete


def test_graphs_are_counted_once_all_folds_of_a_seed_completed():
    full = [record("max", "A", fold, seed=1, folds=3) for fold in range(3)]
    assert series([record("max", "A", folds=3), *full]).graphs == 30
    assert series(full[:2]).graphs is None


def test_failures_are_grouped_by_reason():
    failed = [record("max", "A", fold, failed=True, folds=3) for fold in range(2)]
    other = failed[1].model_copy(
        update={"failure": failed[1].failure.model_copy(update={"reason": "memory"})}
    )
    grouped = series([*failed, other]).failures
    assert {reason: len(found) for reason, found in grouped.items()} == {
        "the loss became nan": 2, "memory": 1,
    }  # fmt: skip


def test_cost_is_the_mean_over_completed_folds():
    some = [*records(["max"], ["A"])[:3], record("max", "A", 4, failed=True)]
    cost = series(some).cost
    assert (cost.seconds, cost.parameters, cost.memory) == (3.0, 1001.0, None)
    assert str(cost) == "3 s, 1,001 parameters"


def test_memory_is_the_median_of_the_peaks_that_were_measured():
    peaks = (None, 9_000_000, 3_000_000, 2_000_000)
    some = [with_outcome(record("max", "A", n), peak_memory=peak) for n, peak in enumerate(peaks)]
    cost = series(some).cost
    assert cost.memory == 3_000_000
    assert str(cost).endswith("3 MB")


def test_settings_are_flat_and_without_row_and_column():
    flat = settings_of(record("max", "A"))
    named = {
        "folds": "5", "validation": "0.1", "epochs": "4", "learning_rate": "0.005", "keep": "best",
        "members": "1",
        "slots": "64", "node_norm": "false", "pooled_layers": "last",
    }  # fmt: skip
    assert {name: flat[name] for name in named} == named
    assert set(flat) == {*named, *legacy_defaults(NetworkSettings)}


def test_differing_values_of_candidates_are_all_named():
    settings = make_settings("max")
    other = {"training": {"epochs": 9, "learning_rate": 0.005}, "network": {"slots": 64}}
    settings["candidates"].append(other)
    flat = settings_of(record("max", "A", settings=settings))
    assert (flat["epochs"], flat["slots"]) == ("4 or 9", "64")


@pytest.mark.parametrize(
    ("protocol", "trained", "keep"),
    [
        ("fair", {}, "best"),
        ("fair", {"keep": "best"}, "best"),
        ("fair", {"keep": "last"}, "last"),
        ("paper", {}, None),
    ],
)
def test_kept_epoch_is_a_setting_under_fair(protocol, trained, keep):
    settings = make_settings("max")
    settings["candidates"][0]["training"] |= trained
    flat = settings_of(record("max", "A", protocol=protocol, settings=settings))
    assert flat.get("keep") == keep


def test_nested_settings_are_text():
    flat = settings_of(record("max", "A", settings={"encoding": {"labels": True}}))
    assert flat == {"folds": "5", "encoding": '{"labels": true}'}


def test_differing_settings_are_those_whose_values_differ():
    assert differing([{"a": "1", "b": "2"}, {"a": "1", "b": "3"}]) == ["b"]
    assert differing([{"a": "1"}, {"a": "1", "b": "3"}]) == ["b"]
    assert differing([{"a": "1"}]) == differing([]) == []


def test_records_that_do_not_name_node_norm_had_none():
    flat = [
        settings_of(record(pool, "A", settings=make_settings(pool))) for pool in ("loop", "max")
    ]
    assert [one["node_norm"] for one in flat] == ["false", "false"]
