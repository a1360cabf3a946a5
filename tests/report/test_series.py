from lfds.report.series import Series
from tests.report.runs import record


def series(records, seeds=(0, 1)):
    return Series("fair", "max", "A", "", 3, {}, set(seeds), list(records))


def test_every_fold_without_a_record_is_missing_by_seed():
    part = series([record("max", "A", 0, folds=3), record("max", "A", 2, failed=True, folds=3)])
    assert part.missing == {0: [1], 1: [0, 1, 2]}
    assert (len(part.done), len(part.failed), part.wanted) == (1, 1, 6)
    assert not part.complete


def test_a_failed_fold_is_not_missing_and_not_done():
    full = [record("max", "A", fold, folds=3) for fold in range(3)]
    assert series(full, [0]).complete
    failed = record("max", "A", 2, failed=True, folds=3)
    assert series([*full[:2], failed], [0]).missing == {}
    assert not series([*full[:2], failed], [0]).complete


def test_graphs_are_counted_once_a_seed_is_through():
    full = [record("max", "A", fold, seed=1, folds=3) for fold in range(3)]
    assert series([record("max", "A", folds=3), *full]).graphs == 30
    assert series(full[:2]).graphs is None


def test_failures_are_gathered_by_reason():
    failed = [record("max", "A", fold, failed=True, folds=3) for fold in range(2)]
    other = failed[1].model_copy(
        update={"failure": failed[1].failure.model_copy(update={"reason": "memory"})}
    )
    gathered = series([*failed, other]).failures
    assert {reason: len(found) for reason, found in gathered.items()} == {
        "the loss became nan": 2, "memory": 1,
    }  # fmt: skip
