import numpy as np
import pytest

from lfds.report.classes import class_results, class_table
from lfds.report.figures.confusion import draw_confusion
from lfds.results.record import Confusion
from tests.report.runs import records, with_outcome

COUNTS = [((3, 1, 0), (2, 4, 0), (0, 0, 0)), ((4, 0, 0), (5, 0, 1), (0, 0, 0))]


def confused(some, classes=("a", "b", "c")):
    """Give every second fold the one matrix, the others the other."""
    made = []
    for one in some:
        counts = COUNTS[one.fold.fold % 2]
        correct = sum(row[n] for n, row in enumerate(counts)) / 10
        confusion = Confusion(classes=classes, counts=counts)
        changes = {"accuracy": correct}
        if one.fold.protocol == "paper":
            test = (*one.outcome.curve.test[:-1], correct)
            changes = {"curve": one.outcome.curve.model_copy(update={"test": test})}
        made.append(with_outcome(one, confusion=confusion, **changes))
    return made


def test_matrices_of_all_folds_are_added(report_on):
    board = report_on(confused(records(["max", "loop"], ["A"]))).by("fair")
    found = class_table(board, "A")
    assert list(found) == ["max", "loop"]
    counts = found["max"].counts
    assert counts.tolist() == [[17, 3, 0], [16, 12, 2], [0, 0, 0]]
    assert found["max"].graphs.tolist() == [20, 30, 0]
    np.testing.assert_allclose(found["max"].recall, [17 / 20, 12 / 30, np.nan])
    np.testing.assert_allclose(found["max"].precision, [17 / 33, 12 / 15, 0])


def test_incomplete_and_older_runs_have_none(report_on):
    some = confused(records(["max"], ["A"]))
    entry = report_on(some[:3]).by("fair").entries["max", "A"]
    assert class_results(entry, "fair") is None
    older = [some[0], *records(["max"], ["A"])[1:]]
    assert class_results(report_on(older).by("fair").entries["max", "A"], "fair") is None


def test_matrices_of_the_last_epoch_are_not_shown_for_another(report_on):
    report = report_on(confused(records(["max"], ["A"], protocol="paper")))
    assert class_table(report.by("last"), "A")
    assert not class_table(report.by("fold-best"), "A")


@pytest.mark.usefixtures("drawing")
def test_every_pooling_has_a_panel_with_its_counts(report_on):
    board = report_on(confused(records(["max", "loop"], ["A"]))).by("fair")
    drawing = draw_confusion(board, "A")
    panels = [axes for axes in drawing.figure.axes if axes.axison]
    assert [axes.get_title(loc="left") for axes in panels] == ["max", "loop"]
    shown = {text.get_position(): text.get_text() for text in panels[0].texts}
    # Across is the predicted class, down the true one.
    assert shown == {(0, 0): "17", (1, 0): "3", (0, 1): "16", (1, 1): "12", (2, 1): "2"}
    assert drawing.tips["tips-0-1-0"] == ["max: 16 graphs of class b (53.3%) predicted as a"]
    assert draw_confusion(report_on(records(["max"], ["A"])).by("fair"), "A") is None


@pytest.mark.usefixtures("drawing")
def test_many_classes_are_drawn_without_numbers(report_on):
    names = tuple(f"class-{n}" for n in range(30))
    counts = tuple(tuple(int(i == j and i < 10) for j in range(30)) for i in range(30))
    some = [
        with_outcome(one, confusion=Confusion(classes=names, counts=counts), accuracy=1.0)
        for one in records(["max"], ["A"])
    ]
    (axes,) = draw_confusion(report_on(some).by("fair"), "A").figure.axes
    assert not axes.texts
    assert len(axes.get_xticklabels()) <= 15
