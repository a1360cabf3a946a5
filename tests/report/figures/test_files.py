import re
from xml.etree import ElementTree

import pytest

from lfds.report.figures.files import as_file, inline
from lfds.report.figures.folds import draw_folds
from lfds.report.figures.style import in_lines
from tests.report.runs import record, records, settings

pytestmark = pytest.mark.usefixtures("drawing")
NASTY = '<script>alert("1")</script> --> 0.00012345 #1d2329 $x$'


@pytest.fixture
def drawn(report_on):
    nasty = [record(NASTY, NASTY, fold, told=settings("x")) for fold in range(5)]
    return draw_folds(report_on([*records(["max"], [NASTY]), *nasty]).by("fair"), NASTY)


def test_files_are_what_they_say_and_the_same_each_time(drawn):
    assert as_file(drawn, "png").startswith(b"\x89PNG")
    svg = as_file(drawn, "svg")
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert svg == as_file(drawn, "svg")
    assert as_file(drawn, "png") == as_file(drawn, "png")


def test_in_a_page_a_figure_is_named_described_and_its_names_are_text(drawn):
    svg = inline(drawn, "k")
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert all(name.startswith("k-") for name in ids)
    assert set(root.get("aria-labelledby").split()) <= set(ids)
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert set(in_lines(NASTY).split("\n")) <= set(texts)
    assert in_lines(NASTY).replace("\n", " ") == NASTY
    assert "<script" not in svg


def test_in_a_page_a_figure_takes_the_colours_around_it(drawn):
    svg = inline(drawn, "k")
    tags = "".join(re.findall(r"<[^>]*>", svg))
    assert "var(--ink)" in tags
    assert not re.search(r"#[0-9a-f]{6}", tags.replace("#ffffff", ""))
    assert not re.search(r"\d\.\d{3,}", tags)


def test_what_a_figure_refers_to_is_there(drawn):
    svg = inline(drawn, "k")
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    assert used
    assert used <= set(re.findall(r'id="([^"]*)"', svg))
