import pytest

from lfds.report.figures.draw import all_drawings, by_column
from tests.report.runs import record, records

pytestmark = pytest.mark.usefixtures("drawing")


def test_everything_is_drawn_under_a_name_of_its_own(report_on):
    report = report_on(records(["max", "loop"], ["A", "<A>"], protocol="paper"))
    names = [drawing.name for s in report.standings for drawing in all_drawings(s)]
    assert len(names) == 3 * (4 * 2 + 1)
    assert len(set(names)) == len(names)
    assert all(name.replace("-", "").isalnum() for name in names)


def test_what_cannot_be_drawn_is_left_out(report_on):
    standing = report_on([record("max", "A", failed=True)]).by("fair")
    assert list(all_drawings(standing)) == []
    assert by_column("curves", standing) == {}
