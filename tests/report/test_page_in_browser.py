"""The page as a person meets it: looked at, switched, walked through by keyboard, printed."""

import pytest

from lfds.report.page import page
from lfds.report.report import make_report
from tests.browser import DESKTOP, PHONE
from tests.report.runs import record, records, settings, write

pytestmark = pytest.mark.browser
NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """One page of three rules, with a name that must stay a name; drawing it takes a while."""
    nasty = [record(NASTY, NASTY, fold, told=settings("x"), protocol="paper") for fold in range(5)]
    folder = tmp_path_factory.mktemp("page")
    made = make_report([write(folder, [*records(["max", "loop"], protocol="paper"), *nasty])])
    (folder / "report.html").write_text(page(made, "last"), encoding="utf-8")
    return folder / "report.html"


@pytest.fixture
def opened(browser, pages):
    def look(size=DESKTOP, **options):
        return browser(pages, size, **options)

    return look


def best(seen):
    """Return the texts that are marked as best in the table that is shown."""
    return seen.page.locator(".accuracy .best:visible").all_inner_texts()


@pytest.mark.parametrize("size", [PHONE, DESKTOP])
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_it_opens_quietly_and_fits(opened, size, color_scheme):
    seen = opened(size, color_scheme=color_scheme)
    assert (seen.messages, seen.requests) == ([], [])
    assert seen.overflow() == 0
    assert seen.page.locator("svg:visible").count() > 5
    body = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert body == ("rgb(255, 255, 255)" if color_scheme == "light" else "rgb(20, 24, 28)")


def test_a_wide_figure_shows_that_it_scrolls_until_its_end(opened):
    wide = "#folds .scroll:visible"
    seen = opened(PHONE)
    assert seen.darkest_at_the_side(wide) > 30
    seen.page.locator(wide).first.evaluate("one => { one.scrollLeft = one.scrollWidth }")
    assert seen.darkest_at_the_side(wide) < 15
    assert opened(DESKTOP).darkest_at_the_side(wide) < 15


def test_the_switch_changes_the_table(opened):
    seen = opened()
    tables = {}
    for rule in ("last", "common-best", "fold-best"):
        seen.page.check(f"#rule-{rule}")
        assert seen.page.locator(".accuracy:visible").count() == 1
        tables[rule] = best(seen)
        assert len(tables[rule]) == 2
    assert len(set(map(tuple, tables.values()))) == 3


def test_the_keyboard_reaches_and_turns_the_switch(opened):
    seen = opened()
    before = best(seen)
    for _ in range(30):
        seen.page.keyboard.press("Tab")
        if seen.focused() == "rule-last":
            break
    assert seen.focused() == "rule-last"
    outline = seen.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    seen.page.keyboard.press("ArrowRight")
    assert seen.focused() == "rule-common-best"
    assert best(seen) != before
    seen.page.keyboard.press("Tab")
    assert seen.page.evaluate("document.activeElement.getAttribute('aria-label')") == (
        "Accuracy by rule common-best"
    )


def test_the_first_key_offers_to_skip_to_the_results(opened):
    seen = opened()
    seen.page.keyboard.press("Tab")
    assert seen.focused("textContent") == "Go to the results"
    assert seen.page.locator(".skip").bounding_box()["x"] >= 0


def test_a_reader_of_the_screen_is_told_what_is_seen(opened):
    seen = opened()
    tree = seen.page.locator("body").aria_snapshot()
    assert 'group "Rule"' in tree
    assert 'radio "last" [checked]' in tree
    assert 'columnheader "ENZYMES in the paper"' in tree
    assert 'img "Accuracy of every fold on ENZYMES, rule last' in tree
    # What is not shown is not read out.
    assert "rule fold-best" not in tree


def test_in_print_the_chosen_rule_is_there_and_nothing_is_cut_off(opened):
    seen = opened()
    seen.page.check("#rule-fold-best")
    seen.page.emulate_media(media="print")
    assert seen.page.locator(".accuracy:visible").count() == 1
    assert seen.page.locator("nav").is_hidden()
    assert seen.page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == (
        "visible"
    )
    assert seen.page.pdf().startswith(b"%PDF")


def test_text_of_names_is_seen_as_text(opened):
    seen = opened()
    assert NASTY in seen.page.locator(".accuracy:visible tbody th").all_inner_texts()
    assert NASTY in seen.page.locator("svg text").all_text_contents()
    assert seen.page.locator("script").count() == 0
