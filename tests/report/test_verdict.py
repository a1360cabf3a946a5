import pytest

from lfds.report.verdict import reference_row, tallies, verdict
from tests.report.runs import records, with_outcome


def shifted(some, gains):
    """Give every fold of a pooling on a dataset the accuracy of max there, and a gain."""
    base = {
        (one.fold.dataset, one.fold.fold): one.outcome.accuracy
        for one in some
        if one.fold.pool == "max"
    }
    made = []
    for one in some:
        gain = gains.get((one.fold.pool, one.fold.dataset), 0.0)
        noise = 0.001 * (one.fold.fold % 3) if gain else 0.0
        accuracy = base[one.fold.dataset, one.fold.fold] + gain + noise
        made.append(with_outcome(one, accuracy=accuracy))
    return made


GAINS = {("loop", "A"): 0.1, ("loop", "BB"): -0.1, ("loop", "CCC"): 0.0}


def test_sentence_counts_datasets_and_significant_differences(report_on):
    some = shifted(records(["max", "loop"], ["A", "BB", "CCC"]), GAINS)
    assert verdict(report_on(some).by("fair")) == (
        "loop is ahead of max on 1 of 3 datasets, significantly on 1 (significantly behind on 1)."
    )


def test_the_one_that_compares_best_comes_first(report_on):
    gains = {**GAINS, **{("image", name): 0.05 for name in ("A", "BB", "CCC")}}
    some = shifted(records(["max", "loop", "image"], ["A", "BB", "CCC"]), gains)
    board = report_on(some).by("fair")
    assert [tally.row for tally in tallies(board, "max")] == ["image", "loop"]
    assert verdict(board).startswith(
        "image is ahead of max on 3 of 3 datasets, significantly on 3; loop on 1 of 3, "
    )


def test_reference_is_max_then_a_baseline_then_the_first(report_on):
    assert reference_row(report_on(records(["loop", "max"], ["A"])).by("fair")) == "max"
    assert reference_row(report_on(records(["loop", "gmt"], ["A"])).by("fair")) == "gmt"
    assert reference_row(report_on(records(["loop", "image"], ["A"])).by("fair")) == "loop"
    # Max cannot be compared with anything.
    some = [*records(["loop", "gmt"], ["A"]), *records(["max"], ["A"])[:2]]
    assert reference_row(report_on(some).by("fair")) == "gmt"


def test_one_dataset_has_differences_and_p_values(report_on):
    some = shifted(records(["max", "loop"], ["A"]), GAINS)
    text = verdict(report_on(some).by("fair"))
    assert text.startswith("On A, loop is ahead of max by 10.1 points, significantly (p ")


def test_without_a_comparison_the_sentence_says_so(report_on):
    one = verdict(report_on(records(["max"], ["A"])).by("fair"))
    assert one.startswith("max reaches ")
    assert one.endswith("there is nothing to compare it with.")
    part = records(["max", "loop"], ["A"])[:3]
    assert "nothing to compare yet" in verdict(report_on(part).by("fair"))


@pytest.mark.parametrize("count", [2, 9])
def test_sentences_of_many_poolings_stay_short(report_on, count):
    pools = ["max", *(f"pooling-{n}" for n in range(count))]
    text = verdict(report_on(records(pools, ["A", "BB"], folds=3)).by("fair"))
    assert len(text) < 450
    assert ("others compare worse" in text) == (count > 5)
    assert text.count(";") == min(count - 1, 4)
