"""The browser of the tests hears and sees what a page does; else silence would prove nothing."""

import pytest

from tests.browser import DESKTOP, PHONE

pytestmark = pytest.mark.browser


def written(path, body):
    path.write_text(f"<!doctype html><title>A page</title>{body}", encoding="utf-8")
    return path


def test_a_quiet_page_is_quiet(browser, tmp_path):
    opened = browser(written(tmp_path / "page.html", "<a id=one href=#two>One</a>"))
    opened.page.keyboard.press("Tab")
    assert opened.focused() == "one"
    assert opened.page.title() == "A page"
    assert (opened.messages, opened.requests, opened.overflow()) == ([], [], 0)


@pytest.mark.parametrize(
    "body", ["<script>console.log('heard')</script>", "<script>throw Error('heard')</script>"]
)
def test_what_a_page_says_is_heard(browser, tmp_path, body):
    assert "heard" in browser(written(tmp_path / "page.html", body)).messages[0]


def test_what_a_page_fetches_is_seen(browser, tmp_path):
    page = written(tmp_path / "page.html", "<img src='http://nowhere.invalid/seen.png'>")
    assert browser(page).requests == ["http://nowhere.invalid/seen.png"]


def test_a_page_that_is_too_wide_for_a_phone_is_told(browser, tmp_path):
    page = written(tmp_path / "page.html", "<div style='width: 800px'>wide</div>")
    assert browser(page, PHONE).overflow() > 0
    assert browser(page, DESKTOP).overflow() == 0
