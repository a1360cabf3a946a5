import warnings

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from lfds.report.figures.style import ACCENT, MUTED, color_of, styled


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
