import json
import re
import warnings
from importlib.resources import files
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from lfds.report.figures.curves import draw_curves
from lfds.report.figures.folds import draw_folds
from lfds.report.figures.style import (
    MUTED,
    ROW_COLORS,
    as_file,
    as_html,
    label_width,
    row_colors,
    styled,
    wrap_label,
)
from tests.report.runs import accuracy_of, make_settings, record, records

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
    assert any(text.startswith('<script>alert("1")') for text in texts)
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


def test_every_row_has_its_colour_and_many_are_grey():
    colors = row_colors([f"p{n}" for n in range(len(ROW_COLORS) + 2)])
    assert len(set(list(colors.values())[: len(ROW_COLORS)])) == len(ROW_COLORS)
    assert list(colors.values())[len(ROW_COLORS) :] == [MUTED, MUTED]


def test_page_has_the_colours_of_the_rows():
    style = files("lfds.report").joinpath("template", "page.css").read_text(encoding="utf-8")
    for number, color in enumerate(ROW_COLORS):
        assert f"--row-{number}: {color}" in style
        assert f".row{number} " in style


def test_shapes_have_their_values_as_titles(drawn):
    root = ElementTree.fromstring(as_html(drawn))
    shapes = [e for e in root.iter() if e.get("class") == "tip"]
    texts = [e[0].text for e in shapes]
    assert len(texts) == 2 * (5 + 1)
    score = 100 * accuracy_of("max", NASTY, 2, 0)
    assert f"max, fold 3: {score:.1f} %" in texts
    # Each at its own point: further to the right is more.
    points = [e for e in shapes if "max, fold" in e[0].text]
    places = [float(e.get("x")) for e in points]
    values = [float(e[0].text.split()[-2]) for e in points]
    assert np.argsort(places).tolist() == np.argsort(values).tolist()


def test_readings_are_where_the_lines_are_drawn(report_on, drawing):
    drawn = draw_curves(report_on(records(["max", "loop"], ["A"])).by("fair"), "A")
    root = ElementTree.fromstring(as_html(drawn))
    data = json.loads(root.get("data-readings"))
    assert [name for name, _ in data["lines"]] == ["max", "loop"]
    left, right, low, high = data["axis"]
    line = drawn.figure.axes[0].lines[0]
    to_points = drawn.figure.axes[0].transData.transform(line.get_xydata()) * 72 / drawn.figure.dpi
    for (across, _), epoch in zip(to_points, line.get_xdata(), strict=True):
        assert left + (epoch - low) / (high - low) * (right - left) == pytest.approx(
            across, abs=0.1
        )
    assert data["lines"][0][1] == [round(v, 1) for v in line.get_ydata()]


def test_labels_have_at_most_two_lines_that_fit():
    assert wrap_label("loop") == "loop"
    long = wrap_label("loop (epochs 100, batch size 32, weight decay 0.001, slots 16)")
    first, second = long.split("\n")
    assert second.endswith("…")
    assert label_width([long]) == max(label_width([first]), label_width([second]))
    assert label_width([long]) < label_width(["x" * 28]) + 1e-9
    assert label_width(["x" * 90]) == label_width(["x" * 28])
