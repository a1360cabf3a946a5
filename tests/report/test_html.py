import base64
import hashlib
import re
from datetime import date
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
from lfds.results.record import PROTOCOLS, RULES, Confusion
from tests.report.runs import make_settings, make_spec, record, records, with_outcome, write

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
    for tag in ("link", "img", "iframe", "object"):
        assert found.all(tag) == []
    addresses = set(re.findall(r"https?://[^\s\"'<]+", text))
    assert addresses <= {"http://www.w3.org/1999/xlink"}
    assert "@import" not in text


def test_policy_allows_the_script_of_the_page_and_no_other(read):
    text, found = read(records(["max", "loop"], ["A"]))
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    assert found.all("script") == [{}]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = found.all("meta")[2]["content"]
    assert f"script-src 'sha256-{digest}'" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1]
    assert not any(name.startswith("on") for _, attrs in found.tags for name in attrs)


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
    radios = [one for one in found.all("input") if one["name"] == "rule"]
    assert [radio["value"] for radio in radios] == list(PROTOCOLS["paper"])
    assert [radio["value"] for radio in radios if "checked" in radio] == ["fold-best"]
    _, found = read(records(["max"], ["A"]))
    assert not [one for one in found.all("input") if one["name"] == "rule"]


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
    assert len(found.all("script")) == 1
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


def test_headline_names_poolings_and_datasets(report_on):
    assert headline(report_on(records())) == "max, loop and image on ENZYMES and MUTAG"
    many = report_on(records([f"p{n}" for n in range(6)], ["A"], folds=2))
    assert headline(many) == "p0, p1, p2 and 3 other poolings on A"


def test_headline_names_those_of_all_protocols(report_on):
    both = [*records(["max", "loop"], ["A"]), *records(["max"], ["A", "B"], protocol="paper")]
    assert headline(report_on(both)) == "max and loop on A and B"


def test_page_begins_with_date_title_and_verdict(report_on):
    made = report_on(records())
    text = page(made, "fair", {}, today=date(2026, 3, 1))
    assert "lfds report, 1 March 2026" in text
    first = re.search(r'<h1>.*?</h1>.*?<p class="verdict">(.*?)</p>', text, flags=re.DOTALL)
    assert first[1].startswith("loop is ahead of max on 2 of 2 datasets, significantly on 2")


def test_run_without_a_finished_fold_is_one_sentence(report_on):
    text = page(report_on([], make_spec(["max", "loop"], ["A", "B"])), "fair")
    assert "<h2" not in text
    assert "No fold has finished yet: 0 of 20 folds completed, 20 not run." in text
    assert not re.search(r"<section|<table|<nav", text)


def test_run_whose_folds_all_failed_has_no_figures(report_on):
    text = page(report_on([record("max", "A", failed=True)]), "fair")
    assert "the loss became nan" in text
    assert 'id="accuracy"' not in text
    assert 'id="folds"' not in text


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


def test_a_row_without_a_network_makes_no_settings_differ(report_on):
    forest = {"content": "c0ffee", "forest": {"trees": 500}}
    some = records(["max", "loop"], ["A"])
    some += [record("random-forest", "A", fold, settings=forest) for fold in range(5)]
    common, names, _ = settings_table(report_on(some))
    assert "epochs" not in names
    assert common["epochs"] == "4"
    assert common["forest"] == '{"trees": 500}'


def test_settings_without_effect_are_a_dash(report_on):
    readouts = {"max": "max", "loop": "max+weighted", "image": "max+mean"}
    some = [
        record(pool, "A", fold, settings=make_settings(pool, node_norm=pool != "max", readout=one))
        for pool, one in readouts.items()
        for fold in range(5)
    ]
    common, names, differing = settings_table(report_on(some))
    # Not "max" for a pooling that has no slots.
    assert names == ["readout"]
    assert differing == [
        ("max on A", ["\N{EN DASH}"]),
        ("loop on A", ["max+weighted"]),
        ("image on A", ["max+mean"]),
    ]
    # The same wherever it has an effect.
    assert common["node_norm"] == "true"


def test_page_says_what_differs_beside_the_pooling(read):
    settings = {
        pool: make_settings(pool, pooled_layers="all", node_norm=True, readout="max+weighted")
        for pool in ("max", "loop")
    }
    some = [
        record(pool, "A", fold, settings=settings[pool]) for pool in settings for fold in range(5)
    ]
    text, _ = read(some)
    assert "Rows differ in more than how nodes are pooled" in text
    assert "all, side by side" in text
    assert "maxima and weighted sums over slots" in text


def test_confusion_matrices_and_results_per_class_are_shown(read):
    confusion = Confusion(classes=("left", NASTY), counts=((3, 1), (0, 6)))
    some = [
        with_outcome(one, confusion=confusion, accuracy=0.9)
        for one in records(["max", "loop"], ["A"])
    ]
    text, _ = read(some)
    assert "Results per class on A" in text
    assert ">75.0</td>" in text
    assert 'data-tip="max, class left: precision 100.0 %"' in text
    assert "Confusion matrices on A" in text
    old, _ = read(records(["max", "loop"], ["A"]))
    assert "The records hold no confusion matrices" in old


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
    few = report_on(records(["max"], ["A"], protocol="paper")[:2])
    assert "Nothing here." in page(few, "common-best", {"new": new})
