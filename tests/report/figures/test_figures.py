from pathlib import Path

import pytest

from lfds.report.figures import FIGURES, all_drawings
from tests.report.runs import record, records

pytestmark = pytest.mark.usefixtures("drawing")


def test_every_figure_is_drawn_under_a_unique_name(report_on):
    report = report_on(records(["max", "loop"], ["A", "<A>"], protocol="paper"))
    names = [drawing.name for drawing in all_drawings(report.leaderboards)]
    assert len(names) == 3 * (6 * 2 + 1)
    assert len(set(names)) == len(names)
    assert all(name.replace("-", "").isalnum() for name in names)
    # The records of this run hold no confusion matrices.
    assert {name.split("-")[0] for name in names} == set(FIGURES) - {"confusion"}


def test_figures_without_content_are_left_out(report_on):
    board = report_on([record("max", "A", failed=True)]).by("fair")
    assert list(all_drawings([board])) == []
    assert all(figure.draw(board) == {} for figure in FIGURES.values())


def test_documentation_lists_every_figure():
    page = (Path(__file__).parents[3] / "docs" / "report.md").read_text(encoding="utf-8")
    for name, figure in FIGURES.items():
        assert f"| {figure.title} (`{name}`) |" in page
