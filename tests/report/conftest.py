"""What tests of figures and pages share."""

import pytest

from lfds.report.figures.style import styled
from lfds.report.report import make_report
from tests.report.runs import write


@pytest.fixture
def report_on(tmp_path):
    """Return a function that writes records as a run and reports on it."""

    def made(some, wish=None):
        return make_report([write(tmp_path / "run", some, wish)])

    return made


@pytest.fixture
def drawing():
    """Draw in the style of reports."""
    with styled():
        yield
