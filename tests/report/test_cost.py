from types import SimpleNamespace

from lfds.report.cost import cost_of
from lfds.report.series import Series
from tests.report.runs import record, records


def series(some):
    return Series("fair", "max", "A", "", 5, {}, {0}, some)


def test_costs_are_means_over_the_folds_that_ended_well():
    some = [*records(["max"], ["A"])[:3], record("max", "A", 4, failed=True)]
    cost = cost_of(series(some))
    assert (cost.seconds, cost.parameters, cost.memory) == (3.0, 1001.0, None)
    assert str(cost) == "3 s, 1,001 numbers"


def test_memory_is_the_most_that_any_fold_held_where_records_say():
    ends = [
        SimpleNamespace(seconds=1.0, parameters=10, peak_memory=peak)
        for peak in (None, 3_000_000, 2_000_000)
    ]
    some = [SimpleNamespace(outcome=end, failure=None) for end in ends]
    cost = cost_of(series(some))
    assert cost.memory == 3_000_000
    assert str(cost).endswith("3 MB")
