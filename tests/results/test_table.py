from lfds.results.table import table_of
from tests.results.records import failed_record, fair_record


def table(records, pools=("max", "loop")):
    return table_of("fair", records, pools=pools, datasets=["SET"], folds=2, seeds=[0])


def test_cell_has_a_mean_or_its_progress():
    found = table(
        [
            fair_record(0.5),
            fair_record(0.75, 1),
            fair_record(0.5, pool="loop"),
            failed_record(1, pool="loop"),
            fair_record(0.5, pool="image"),
        ],
        pools=("max", "loop", "image", "array"),
    )
    assert str(found.cells["max", "SET"]) == "62.5 ± 17.7"
    # No mean over the remaining folds.
    assert str(found.cells["loop", "SET"]) == "1 of 2 folds failed"
    assert str(found.cells["image", "SET"]) == "1 of 2 folds done"
    assert str(found.cells["array", "SET"]) == "0 of 2 folds done"
    assert [cell.summary is None for cell in found.cells.values()] == [False, True, True, True]
    assert found.means() == {"max": {"SET": 0.625}, "loop": {}, "image": {}, "array": {}}


def test_table_does_not_depend_on_the_order_of_records():
    records = [fair_record(0.1 * k, k % 2, pool=("max", "loop")[k // 2]) for k in range(4)]
    assert all(cell.summary is not None for cell in table(records).cells.values())
    assert table(records) == table(records[::-1])
