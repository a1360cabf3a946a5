import warnings

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from lfds.report.figures.style import ACCENT, MUTED, color_of, in_lines, room_for, styled


def test_the_style_is_left_behind():
    before = mpl.rcParams["svg.fonttype"]
    with styled():
        assert mpl.rcParams["svg.fonttype"] == "none"
    assert mpl.rcParams["svg.fonttype"] == before


def test_letters_that_the_font_lacks_are_no_warning(tmp_path):
    figure = Figure()
    figure.text(0, 0, "\N{CJK UNIFIED IDEOGRAPH-56FE}")
    with styled(), warnings.catch_warnings(record=True) as said:
        figure.savefig(tmp_path / "x.png")
    assert not said
    with pytest.warns(UserWarning, match="Glyph"):
        figure.savefig(tmp_path / "x.png")


def test_colour_means_standing():
    assert color_of("best") == color_of("even") == ACCENT
    assert color_of("behind") == color_of("") == MUTED


def test_names_have_two_lines_at_most_and_room_for_each():
    assert in_lines("loop") == "loop"
    long = in_lines("loop (epochs 100, batch size 32, weight decay 0.001, slots 16)")
    first, second = long.split("\n")
    assert second.endswith("…")
    assert room_for([long]) == max(room_for([first]), room_for([second]))
    assert room_for([long]) < room_for(["x" * 28]) + 1e-9
    assert room_for(["x" * 90]) == room_for(["x" * 28])
