import re
import warnings
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from lfds.report.figures.folds import draw_folds
from lfds.report.figures.style import (
    ACCENT,
    MUTED,
    as_file,
    as_html,
    color_of,
    label_width,
    styled,
    wrap_label,
)
from tests.report.runs import make_settings, record, records

NASTY = '<script>alert("1")</script> --> 0.00012345 #1d2329 $x$'


@pytest.fixture
def drawn(report_on, drawing):
    nasty = [record(NASTY, NASTY, fold, settings=make_settings("x")) for fold in range(5)]
    return draw_folds(report_on([*records(["max"], [NASTY]), *nasty]).by("fair"), NASTY)


def test_files_have_their_type_and_are_reproducible(drawn):
    assert as_file(drawn, "png").startswith(b"\x89PNG")
    svg = as_file(drawn, "svg")
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert svg == as_file(drawn, "svg")
    assert as_file(drawn, "png") == as_file(drawn, "png")


def test_html_figure_has_title_and_description_and_escapes_names(drawn):
    svg = as_html(drawn)
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert all(name.startswith(f"{drawn.name}-") for name in ids)
    assert set(root.get("aria-labelledby").split()) <= set(ids)
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert set(wrap_label(NASTY).split("\n")) <= set(texts)
    assert wrap_label(NASTY).replace("\n", " ") == NASTY
    assert "<script" not in svg


def test_html_figure_has_the_colours_of_the_page(drawn):
    svg = as_html(drawn)
    tags = "".join(re.findall(r"<[^>]*>", svg))
    assert "var(--ink)" in tags
    assert not re.search(r"#[0-9a-f]{6}", tags.replace("#ffffff", ""))
    assert not re.search(r"\d\.\d{3,}", tags)


def test_references_of_an_html_figure_have_targets(drawn):
    svg = as_html(drawn)
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    assert used
    assert used <= set(re.findall(r'id="([^"]*)"', svg))


def test_style_is_restored():
    before = mpl.rcParams["svg.fonttype"]
    with styled():
        assert mpl.rcParams["svg.fonttype"] == "none"
    assert mpl.rcParams["svg.fonttype"] == before


def test_missing_glyphs_are_no_warning(tmp_path):
    figure = Figure()
    figure.text(0, 0, "\N{CJK UNIFIED IDEOGRAPH-56FE}")
    with styled(), warnings.catch_warnings(record=True) as shown:
        figure.savefig(tmp_path / "x.png")
    assert not shown
    with pytest.warns(UserWarning, match="Glyph"):
        figure.savefig(tmp_path / "x.png")


def test_colour_shows_the_mark():
    assert color_of("best") == color_of("even") == ACCENT
    assert color_of("behind") == color_of("") == MUTED


def test_labels_have_at_most_two_lines_that_fit():
    assert wrap_label("loop") == "loop"
    long = wrap_label("loop (epochs 100, batch size 32, weight decay 0.001, slots 16)")
    first, second = long.split("\n")
    assert second.endswith("…")
    assert label_width([long]) == max(label_width([first]), label_width([second]))
    assert label_width([long]) < label_width(["x" * 28]) + 1e-9
    assert label_width(["x" * 90]) == label_width(["x" * 28])
