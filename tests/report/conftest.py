"""Fixtures of the tests of figures and pages."""

import pytest

from lfds.report.figures.style import styled
from lfds.report.load import make_report
from tests.report.runs import write


@pytest.fixture
def report_on(tmp_path):
    """Return a function that writes records as a run and makes a report of it."""

    def made(some, spec=None):
        return make_report([write(tmp_path / "run", some, spec)])

    return made


@pytest.fixture
def drawing():
    """Draw in the style of reports."""
    with styled():
        yield
