import re
from html.parser import HTMLParser

import pytest

from lfds.report.figures import FIGURES, FigureEntry
from lfds.report.html import (
    headline,
    matrix,
    page,
    settings_table,
    state_of,
    versions_table,
)
from lfds.report.load import make_report
from lfds.results.record import PROTOCOLS, RULES
from tests.report.runs import make_settings, make_spec, record, records, write

NASTY = "<script>alert(1)</script>"


class Reader(HTMLParser):
    """Collects the tags of a page, and those that were never closed."""

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
    def reader(some, requested=None, rule=None):
        made = report_on(some, requested)
        text = page(made, rule or made.rules[0])
        found = Reader(text)
        assert found.open == []
        return text, found

    return reader


def test_page_needs_no_network_and_forbids_it(read):
    text, found = read(records(["max", "loop"], protocol="paper"))
    policy = found.all("meta")[2]["content"]
    assert policy.startswith("default-src 'none'")
    for tag in ("script", "link", "img", "iframe", "object"):
        assert found.all(tag) == []
    addresses = set(re.findall(r"https?://[^\s\"'<]+", text))
    assert addresses <= {"http://www.w3.org/1999/xlink"}
    assert "@import" not in text


def test_identifiers_are_unique_and_links_have_targets(read):
    _, found = read(records(["max", "loop"], protocol="paper"))
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = [attrs["href"].removeprefix("#") for attrs in found.all("a")]
    assert len(links) > 8
    assert set(links) <= set(ids)
    for _, attrs in found.tags:
        for name in attrs.get("aria-labelledby", "").split():
            assert name in ids


def test_tables_have_captions_and_scopes(read):
    text, found = read([*records(["max", "loop"], ["A"]), record("gmt", "A", failed=True)])
    assert text.count("<table") == text.count("<caption")
    assert all(attrs.get("scope") in ("row", "col") for attrs in found.all("th"))
    regions = [attrs for _, attrs in found.tags if attrs.get("role") == "region"]
    assert all(attrs["aria-label"] and attrs["tabindex"] == "0" for attrs in regions)


def test_rules_are_radio_buttons_and_the_given_one_is_checked(read):
    _, found = read(records(["max"], ["A"], protocol="paper"), rule="fold-best")
    radios = found.all("input")
    assert [radio["value"] for radio in radios] == list(PROTOCOLS["paper"])
    assert [radio["value"] for radio in radios if "checked" in radio] == ["fold-best"]
    _, found = read(records(["max"], ["A"]))
    assert found.all("input") == []


def test_every_rule_can_be_selected(read):
    text, _ = read(records(["max"], ["A"]))
    for rule in RULES:
        assert f"body:has(#rule-{rule}:checked) .of-{rule}" in text


def test_names_and_reasons_are_escaped(read):
    settings = make_settings("x", note=NASTY)
    broken = record(NASTY, NASTY, 4, failed=True, settings=settings)
    reason = broken.failure.model_copy(update={"reason": NASTY, "traceback": NASTY})
    broken = broken.model_copy(update={"failure": reason, "versions": {NASTY: NASTY}})
    some = [record(NASTY, NASTY, fold, settings=settings) for fold in range(4)]
    text, found = read([*some, broken], make_spec([NASTY], [NASTY], extra=NASTY))
    assert found.all("script") == []
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_accuracies_of_the_paper_are_shown_for_its_datasets(read):
    text, _ = read(records(["loop", "max"], ["ENZYMES", "MUTAG"]))
    assert "74.3 ± 3.8" in text
    assert text.count("in the </span>paper") == 1
    text, _ = read(records(["loop", "max"], ["MUTAG"]))
    assert "in the </span>paper" not in text
    assert "Table 1" not in text


def test_incomplete_runs_are_shown_as_incomplete(read):
    some = [*records(["max"], ["A"])[:2], record("max", "A", 3, failed=True)]
    text, _ = read(some, make_spec(["max", "loop"], ["A", "B"]))
    assert "Incomplete." in text
    assert "2 of 20 folds completed, 1 failed, 17 not run." in text
    assert "seed 0: folds 3, 5" in text
    assert "seed 0: all 5 folds" in text
    assert "the loss became nan" in text
    assert "Traceback &lt;b&gt;" in text
    assert "±" not in re.sub(r"<p.*?</p>", "", text, flags=re.DOTALL)
    assert "Ranks need at least two poolings" in text
    whole, _ = read(records())
    assert "Incomplete." not in whole
    assert "None: 30 of 30 folds completed." in whole


def test_torn_line_is_reported(tmp_path):
    folder = write(tmp_path / "torn", records())
    path = folder / "records.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    made = make_report([folder])
    assert "was not written completely" in page(made, "fair")


def test_page_has_settings_versions_and_command(read):
    text, _ = read(records(), make_spec(decay="cosine"))
    assert '<td class="wrap">0.005</td>' in text
    assert "<td>2.13.0</td>" in text
    assert "lfds compare --spec spec.json" in text
    assert "&#34;decay&#34;: &#34;cosine&#34;" in text
    assert "do not name versions" not in text
    bare = [one.model_copy(update={"versions": {}}) for one in records(["max"], ["A"])]
    text, _ = read(bare)
    assert "5 of 5 records do not name versions" in text


def test_matrix_has_both_directions(report_on):
    cells = matrix(report_on(records(["max", "loop"], ["A"])).by("fair"), "A")
    assert {place: sign for place, (_, sign) in cells.items()} == {
        ("max", "loop"): 1, ("loop", "max"): -1,
    }  # fmt: skip


def test_headline_counts_rows_and_columns(report_on):
    assert headline(report_on(records())) == "3 poolings on 2 datasets"
    assert headline(report_on(records(["max"], ["A"]))) == "1 pooling on A"


def test_headline_counts_all_protocols(report_on):
    both = [*records(["max", "loop"], ["A"]), *records(["max"], ["A", "B"], protocol="paper")]
    assert headline(report_on(both)) == "2 poolings on 2 datasets"


def test_state_counts_every_fold_once(report_on):
    assert state_of(report_on(records())) == "30 of 30 folds completed."
    part = [*records(["max"], ["A"]), record("loop", "A", 0, failed=True)]
    assert state_of(report_on(part, make_spec(["max", "loop"], ["A"]))) == (
        "5 of 10 folds completed, 1 failed, 4 not run."
    )


def test_settings_are_common_or_listed_by_row_and_column(report_on):
    few = [record("loop", "B", fold, settings=make_settings("loop", slots=16)) for fold in range(5)]
    both = [*records(["max", "loop"], ["A"]), *few]
    common, names, differing = settings_table(report_on(both))
    assert names == ["slots"]
    assert "slots" not in common
    assert (common["epochs"], common["protocol"], common["seeds"]) == ("4", "fair", "0")
    assert differing == [("all poolings on A", ["64"]), ("loop on B", ["16"])]


def test_seeds_of_a_network_are_not_those_of_the_run(report_on):
    some = [record("gmt", "A", fold, settings=make_settings("gmt", seeds=64)) for fold in range(5)]
    common, names, _ = settings_table(report_on(some))
    assert (common["seeds"], common["network seeds"], names) == ("0", "64", [])


def test_settings_of_an_irregular_group_are_listed_by_cell(report_on):
    few = [record("loop", "B", settings=make_settings("loop", slots=16))]
    some = [record("max", "A"), record("loop", "A"), record("max", "B"), *few]
    _, _, differing = settings_table(report_on(some))
    assert differing[0][0] == "max on A, loop on A, max on B"


def test_versions_are_counted_by_fold(report_on):
    some = records(["max"], ["A"])
    some[0] = some[0].model_copy(update={"versions": {"lfds": "0.2.0"}})
    some[1] = some[1].model_copy(update={"versions": {}})
    found = versions_table(report_on(some))
    assert sorted(found) == [("lfds", "0.1.0", 3), ("lfds", "0.2.0", 1), ("torch", "2.13.0", 3)]


@pytest.mark.usefixtures("drawing")
def test_new_figure_needs_only_its_entry(report_on):
    fold = FIGURES["folds"]
    new = FigureEntry(fold.target, "A new caption.", title="New figure", empty="Nothing here.")
    made = report_on(records(["max", "loop"], ["A"], protocol="paper")[:7])
    text = page(made, "last", {"new": new})
    assert '<a href="#new">New figure</a>' in text
    assert '<section id="new"' in text
    assert "A new caption." in text
    assert "Nothing here." not in text
    assert "Learning curves" not in text
    nothing = report_on([record("max", "A", failed=True)])
    assert "Nothing here." in page(nothing, "fair", {"new": new})
