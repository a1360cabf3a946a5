from lfds.results.table import table_of
from tests.results.records import failed_record, fair_record


def table(records, pools=("max", "loop")):
    return table_of("fair", records, pools=pools, datasets=["SET"], folds=2, seeds=[0])


def test_a_cell_has_a_mean_or_says_why_not():
    laid = table(
        [
            fair_record(0.5),
            fair_record(0.75, 1),
            fair_record(0.5, pool="loop"),
            failed_record(1, pool="loop"),
            fair_record(0.5, pool="image"),
        ],
        pools=("max", "loop", "image", "array"),
    )
    assert str(laid.cells["max", "SET"]) == "62.5 ± 17.7"
    # A mean over the folds that are left would be the culprit.
    assert str(laid.cells["loop", "SET"]) == "1 of 2 folds failed"
    assert str(laid.cells["image", "SET"]) == "1 of 2 folds done"
    assert str(laid.cells["array", "SET"]) == "0 of 2 folds done"
    assert not laid.complete
    assert laid.means() == {"max": {"SET": 0.625}, "loop": {}, "image": {}, "array": {}}


def test_a_whole_table_is_complete_in_any_order():
    records = [fair_record(0.1 * k, k % 2, pool=("max", "loop")[k // 2]) for k in range(4)]
    assert table(records).complete
    assert table(records) == table(records[::-1])
