import re
from html.parser import HTMLParser

import pytest

from lfds.report.html import matrix, page
from lfds.report.report import make_report
from lfds.results.record import PROTOCOLS, RULES
from tests.report.runs import record, records, settings, wish, write

NASTY = "<script>alert(1)</script>"


class Reader(HTMLParser):
    """Reads a page: which tags there are, what they say, and which were never closed."""

    VOID = frozenset({"meta", "input", "br", "use", "path"})

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture
def read(report_on):
    def reader(some, asked=None, rule=None):
        made = report_on(some, asked)
        text = page(made, rule or made.rules[0])
        found = Reader(text)
        assert found.open == []
        return text, found

    return reader


def test_a_page_asks_for_nothing_and_forbids_asking(read):
    text, found = read(records(["max", "loop"], protocol="paper"))
    policy = found.all("meta")[2]["content"]
    assert policy.startswith("default-src 'none'")
    for tag in ("script", "link", "img", "iframe", "object"):
        assert found.all(tag) == []
    addresses = set(re.findall(r"https?://[^\s\"'<]+", text))
    assert addresses <= {"http://www.w3.org/1999/xlink"}
    assert "@import" not in text


def test_identifiers_are_unique_and_links_lead_somewhere(read):
    _, found = read(records(["max", "loop"], protocol="paper"))
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = [attrs["href"].removeprefix("#") for attrs in found.all("a")]
    assert len(links) > 8
    assert set(links) <= set(ids)
    for _, attrs in found.tags:
        for name in attrs.get("aria-labelledby", "").split():
            assert name in ids


def test_tables_are_real_tables(read):
    text, found = read([*records(["max", "loop"], ["A"]), record("gmt", "A", failed=True)])
    assert text.count("<table") == text.count("<caption")
    assert all(attrs.get("scope") in ("row", "col") for attrs in found.all("th"))
    regions = [attrs for _, attrs in found.tags if attrs.get("role") == "region"]
    assert all(attrs["aria-label"] and attrs["tabindex"] == "0" for attrs in regions)


def test_rules_are_radio_buttons_and_the_one_asked_for_is_first(read):
    _, found = read(records(["max"], ["A"], protocol="paper"), rule="fold-best")
    radios = found.all("input")
    assert [radio["value"] for radio in radios] == list(PROTOCOLS["paper"])
    assert [radio["value"] for radio in radios if "checked" in radio] == ["fold-best"]
    _, found = read(records(["max"], ["A"]))
    assert found.all("input") == []


def test_every_rule_can_be_switched_to(read):
    text, _ = read(records(["max"], ["A"]))
    for rule in RULES:
        assert f"body:has(#rule-{rule}:checked) .of-{rule}" in text


def test_names_and_reasons_are_text(read):
    told = settings("x", note=NASTY)
    broken = record(NASTY, NASTY, 4, failed=True, told=told)
    reason = broken.failure.model_copy(update={"reason": NASTY, "traceback": NASTY})
    broken = broken.model_copy(update={"failure": reason, "versions": {NASTY: NASTY}})
    some = [record(NASTY, NASTY, fold, told=told) for fold in range(4)]
    text, found = read([*some, broken], wish([NASTY], [NASTY], extra=NASTY))
    assert found.all("script") == []
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_the_paper_stands_beside_where_it_has_the_dataset(read):
    text, _ = read(records(["loop", "max"], ["ENZYMES", "MUTAG"]))
    assert "74.3 ± 3.8" in text
    assert text.count("in the </span>paper") == 1
    text, _ = read(records(["loop", "max"], ["MUTAG"]))
    assert "in the </span>paper" not in text
    assert "Table 1" not in text


def test_incomplete_runs_are_shown_as_incomplete(read):
    some = [*records(["max"], ["A"])[:2], record("max", "A", 3, failed=True)]
    text, _ = read(some, wish(["max", "loop"], ["A", "B"]))
    assert "Incomplete." in text
    assert "2 of 20 folds ended well, 1 failed, 17 have not been run." in text
    assert "seed 0: folds 3, 5" in text
    assert "seed 0: all 5 folds" in text
    assert "the loss became nan" in text
    assert "Traceback &lt;b&gt;" in text
    assert "±" not in re.sub(r"<p.*?</p>", "", text, flags=re.DOTALL)
    assert "Ranks need two poolings" in text
    whole, _ = read(records())
    assert "Incomplete." not in whole
    assert "Nothing: all 30 folds" in whole


def test_a_torn_line_is_told(tmp_path):
    folder = write(tmp_path / "torn", records())
    path = folder / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    made = make_report([folder])
    assert "was not written to its end" in page(made, "fair")


def test_settings_versions_and_the_command_are_there(read):
    text, _ = read(records(), wish(decay="cosine"))
    assert '<td class="wrap">0.005</td>' in text
    assert "<td>2.13.0</td>" in text
    assert "lfds compare --spec spec.json" in text
    assert "&#34;decay&#34;: &#34;cosine&#34;" in text
    assert "do not say which versions" not in text
    bare = [one.model_copy(update={"versions": {}}) for one in records(["max"], ["A"])]
    text, _ = read(bare)
    assert "5 of 5 records do not say which versions" in text


def test_the_matrix_has_both_sides(report_on):
    cells = matrix(report_on(records(["max", "loop"], ["A"])).by("fair"), "A")
    assert {place: sign for place, (_, sign) in cells.items()} == {
        ("max", "loop"): 1, ("loop", "max"): -1,
    }  # fmt: skip
