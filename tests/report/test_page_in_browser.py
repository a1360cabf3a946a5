"""The page in a browser: layout, rule switch, keyboard, screen reader, print."""

import pytest

from lfds.report.figures import FIGURES
from lfds.report.html import page
from lfds.report.load import make_report
from tests.browser import DESKTOP, PHONE
from tests.report.runs import make_settings, record, records, write

pytestmark = pytest.mark.browser
NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """One page of three rules, with a name that must be escaped; drawing it takes a while."""
    nasty = [
        record(NASTY, NASTY, fold, settings=make_settings("x"), protocol="paper")
        for fold in range(5)
    ]
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


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_page_fits_the_screen_without_messages_or_requests(opened, color_scheme):
    seen = opened(PHONE, color_scheme=color_scheme)
    for width, height in (PHONE, DESKTOP):
        seen.page.set_viewport_size({"width": width, "height": height})
        assert seen.overflow() == 0
    assert (seen.messages, seen.requests) == ([], [])
    assert seen.page.locator("svg:visible").count() > 5
    body = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert body == ("rgb(255, 255, 255)" if color_scheme == "light" else "rgb(20, 24, 28)")


def test_wide_table_has_a_shadow_until_it_is_scrolled_to_its_end(opened):
    wide = "#settings .scroll:visible"
    seen = opened(PHONE)
    assert seen.darkest_at_the_side(wide) > 30
    seen.page.locator(wide).first.evaluate("one => { one.scrollLeft = one.scrollWidth }")
    assert seen.darkest_at_the_side(wide) < 15


def test_figures_fit_the_screen_and_their_letters_are_legible(opened):
    narrow = opened((400, 800))
    shapes = "all => all.map(one => one.getBoundingClientRect().toJSON())"
    boxes = narrow.page.locator("figure svg:visible").evaluate_all(shapes)
    assert len(boxes) > 5
    assert all(box["left"] >= 0 and box["right"] <= 400 for box in boxes)
    outside = """all => all.filter(text => {
        const [own, whole] = [text, text.ownerSVGElement].map(one => one.getBoundingClientRect());
        return own.left < whole.left - 1 || own.right > whole.right + 1 || own.top < whole.top - 1
            || own.bottom > whole.bottom + 1;
    }).map(text => text.textContent)"""
    assert narrow.page.locator("figure svg:visible text").evaluate_all(outside) == []
    heights = "all => all.map(text => text.getBoundingClientRect().height)"
    sizes = narrow.page.locator("#folds svg:visible text").evaluate_all(heights)
    assert min(sizes) > 10
    wide = opened((1600, 900))
    tops = "all => all.map(one => one.getBoundingClientRect().top)"
    assert len(set(wide.page.locator("#folds figure:visible").evaluate_all(tops))) == 1


def test_values_are_shown_under_the_pointer(opened):
    seen = opened()
    point = seen.page.locator("#folds svg:visible use.tip").first
    point.scroll_into_view_if_needed()
    point.hover()
    assert "fold" in seen.page.locator("#value").inner_text()
    seen.page.locator(".accuracy:visible td[data-tip]").first.hover()
    assert "95 % confidence interval" in seen.page.locator("#value").inner_text()
    curves = seen.page.locator("#curves svg:visible").first
    curves.scroll_into_view_if_needed()
    box = curves.bounding_box()
    seen.page.mouse.move(box["x"] + 0.99 * box["width"], box["y"] + 0.3 * box["height"])
    first, *rows = seen.page.locator("#value").inner_text().split("\n")
    assert first == "epoch 4"
    assert {row.split()[0] for row in rows} == {"max", "loop"}
    seen.page.mouse.move(box["x"] + 0.16 * box["width"], box["y"] + 0.3 * box["height"])
    assert seen.page.locator("#value").inner_text().startswith("epoch 1\n")
    seen.page.locator("h1").hover()
    assert seen.page.locator("#value").is_hidden()


def test_tables_are_sorted_by_the_head_of_a_column(opened):
    seen = opened()
    names = ".accuracy:visible tbody th"
    before = seen.page.locator(names).all_inner_texts()
    assert before[:2] == ["max", "loop"]
    head = seen.page.locator(".accuracy:visible thead .sort").nth(1)
    head.click()
    assert seen.page.locator(names).all_inner_texts()[:2] == ["loop", "max"]
    head.click()
    assert seen.page.locator(names).all_inner_texts()[:2] == ["max", "loop"]
    sorted_by = seen.page.locator(".accuracy:visible [aria-sort]").get_attribute("aria-sort")
    assert sorted_by == "ascending"
    seen.page.locator(".accuracy:visible thead .sort").first.press("Enter")
    assert seen.page.locator(names).all_inner_texts() == sorted(before)


def test_learning_curves_are_switched(opened):
    seen = opened()
    shown = "#curves svg:visible title"
    assert "Learning curves on" in seen.page.locator(shown).first.text_content()
    seen.page.check("#switch-panels")
    titles = seen.page.locator(shown).all_text_contents()
    assert titles
    assert all("Learning curves of each pooling" in title for title in titles)


def test_page_without_script_has_everything(browser, pages):
    seen = browser(pages, DESKTOP, java_script_enabled=False)
    assert seen.page.locator(".accuracy tbody th").count() == 9
    assert seen.page.locator(".sort").count() == 0
    # The browser itself shows the titles of shapes.
    assert seen.page.locator("#folds .tip > title").count() > 5


def test_the_switch_changes_the_table(opened):
    seen = opened()
    tables = {}
    for rule in ("last", "common-best", "fold-best"):
        seen.page.check(f"#rule-{rule}")
        assert seen.page.locator(".accuracy:visible").count() == 1
        tables[rule] = best(seen)
        assert len(tables[rule]) == 2
    assert len(set(map(tuple, tables.values()))) == 3


def test_switch_works_by_keyboard(opened):
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


def test_first_tab_offers_to_skip_to_the_results(opened):
    seen = opened()
    seen.page.keyboard.press("Tab")
    assert seen.focused("textContent") == "Go to the results"
    assert seen.page.locator(".skip").bounding_box()["x"] >= 0


def test_screen_readers_get_the_content_that_is_shown(opened):
    seen = opened()
    tree = seen.page.locator("body").aria_snapshot()
    assert 'group "Rule"' in tree
    assert 'radio "last" [checked]' in tree
    assert 'columnheader "ENZYMES in the paper"' in tree
    assert 'img "Accuracy per fold on ENZYMES, rule last' in tree
    # Hidden content is not read.
    assert "rule fold-best" not in tree


@pytest.fixture
def printed(opened):
    """Return the page as printed from dark mode, in the width of A4 within its margins."""
    seen = opened((680, 1000), color_scheme="dark")
    seen.page.check("#rule-fold-best")
    seen.page.emulate_media(media="print", color_scheme="dark")
    return seen


def test_print_has_the_tables_of_all_rules_and_figures_of_the_selected_one(printed):
    assert printed.page.locator(".accuracy:visible").count() == 3
    shown = printed.page.locator("#folds svg:visible title").all_text_contents()
    assert shown
    assert all("rule fold-best" in title for title in shown)
    notes = printed.page.locator("p.printed:visible").all_inner_texts()
    assert len(notes) == 1
    assert "by the rule fold-best" in notes[0]
    assert printed.page.locator("nav, .rules").locator("visible=true").count() == 0
    assert printed.page.locator("#accuracy .key:visible").count() == 2
    assert printed.page.pdf().startswith(b"%PDF")


def test_print_is_dark_on_white_with_details_expanded(printed):
    assert printed.page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    background = printed.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    assert printed.page.locator("#reproduce pre").first.bounding_box()["height"] > 50
    assert printed.page.locator("#settings details table").bounding_box()["height"] > 50


def test_print_keeps_the_shades_of_pairs(printed):
    kept = printed.page.locator(".pairs .ahead").first.evaluate(
        "one => getComputedStyle(one).printColorAdjust"
    )
    assert kept == "exact"


def test_fourteen_poolings_on_eight_datasets_fit_on_paper(browser, tmp_path):
    pools = ["learned-spectral", "set-transformer", *(f"pooling-{n}" for n in range(12))]
    sets = ["ENZYMES", "PROTEINS", "DD", "SYNTHETIC", "SYNTHETICnew", "Synthie", "pc-graphs", "X"]
    made = make_report([write(tmp_path, records(pools, sets, folds=2))])
    path = tmp_path / "report.html"
    # All figures have the same width, and drawing them takes a while.
    shown = {name: FIGURES[name] for name in ("pairs", "ranks")}
    path.write_text(page(made, "fair", shown), encoding="utf-8")
    seen = browser(path, (680, 1000))
    seen.page.emulate_media(media="print")
    assert seen.overflow() == 0
    widths = "all => all.map(one => one.getBoundingClientRect().right)"
    assert max(seen.page.locator("table:visible, svg:visible").evaluate_all(widths)) <= 681


def test_names_are_escaped(opened):
    seen = opened()
    assert NASTY in seen.page.locator(".accuracy:visible tbody th").all_inner_texts()
    assert NASTY in seen.page.locator("svg text").all_text_contents()
    assert seen.page.locator("script").count() == 1
