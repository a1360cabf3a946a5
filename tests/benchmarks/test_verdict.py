import pytest
from benchmarks.table1.verdict import side_of, verdict

from lfds.report.paper import Published

LOOP = Published(74.3, 3.8)


@pytest.mark.parametrize(
    ("ours", "side"),
    [(74.3, "within"), (78.1, "within"), (70.5, "within"), (78.11, "above"), (70.49, "below")],
)
def test_one_standard_deviation_of_the_paper_is_the_limit_on_both_sides(ours, side):
    assert side_of(ours, LOOP) == side


def test_it_is_the_spread_of_the_paper_that_counts():
    assert side_of(60.0, Published(50.0, 10.0)) == "within"
    assert side_of(60.0, Published(50.0, 9.9)) == "above"


@pytest.mark.parametrize(
    ("last", "common", "best", "said"),
    [
        (60, 72, 75, "within one standard deviation under common-best, fold-best"),
        (60, 65, 75, "within one standard deviation under fold-best"),
        (71, 75, 90, "within one standard deviation under last, common-best"),
        (60, 65, 70, "below under every rule"),
        (80, 85, 90, "above under every rule"),
        (60, 65, 90, "below under last, common-best; above under fold-best"),
    ],
)
def test_every_rule_is_named_under_which_it_is_met_and_no_other(last, common, best, said):
    ours = {"last": float(last), "common-best": float(common), "fold-best": float(best)}
    assert verdict(ours, LOOP) == said
