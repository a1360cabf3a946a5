import base64
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import lfds
from lfds.explain import page as page_module
from lfds.explain.page import packed_shares, page, page_data, safe_json, share_levels
from tests.explain.models import clouds, fitted, strings


class Elements(HTMLParser):
    """Collects what a browser would see as elements."""

    def __init__(self):
        super().__init__()
        self.tags, self.addresses = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href")]


def data_of(html):
    text = re.search(r'id="data">(.*?)</script>', html, flags=re.DOTALL).group(1)
    return json.loads(text)


def test_a_page_needs_nothing_else():
    elements = Elements()
    html = lfds.atlas(fitted(), clouds(), show=2).html
    elements.feed(html)
    assert elements.addresses == []
    assert "link" not in elements.tags
    assert elements.tags.count("script") == 2
    assert "default-src 'none'" in html
    assert "{{" not in html.replace(json.dumps("{{"), "")


def test_names_are_text_whatever_they_hold():
    html = lfds.atlas(fitted(classes="odd"), clouds(), show=2).html
    elements = Elements()
    elements.feed(html)
    assert elements.tags.count("script") == 2
    assert "<script>alert" not in html
    assert any("</script><script>alert(1)</script>" in name for name in data_of(html)["classes"])


def test_a_name_of_the_set_is_text_too():
    numbers = lfds.atlas(fitted(), clouds(), show=1).numbers
    object.__setattr__(numbers, "name", "<b>&{{data}}</b>")
    html = page(numbers)
    assert "<b>" not in html
    assert "&lt;b&gt;&amp;{{data}}&lt;/b&gt;" in html
    assert data_of(html)["name"] == "<b>&{{data}}</b>"


@pytest.mark.parametrize("levels", [255, 65535])
def test_shares_are_rounded_to_half_a_level(levels):
    shares = np.random.default_rng(0).dirichlet(np.ones(9), size=40).astype(np.float32)
    raw = base64.b64decode(packed_shares(shares, levels))
    read = np.frombuffer(raw, dtype="<u2" if levels > 255 else "u1").reshape(40, 9) / levels
    assert np.abs(read - shares).max() <= 0.5 / levels + 1e-9


def test_very_large_pages_round_more(monkeypatch):
    numbers = lfds.atlas(fitted(), clouds(), show=2).numbers
    assert share_levels(numbers) == 65535
    monkeypatch.setattr(page_module, "_WIDE_UP_TO", 100)
    assert share_levels(numbers) == 255
    wide, narrow = 2 * 20 * 9, 20 * 9
    assert len(base64.b64decode(page_data(numbers)["graphs"][0]["pools"][0]["shares"])) == narrow
    monkeypatch.undo()
    assert len(base64.b64decode(page_data(numbers)["graphs"][0]["pools"][0]["shares"])) == wide


def test_the_numbers_of_the_page_are_those_of_the_atlas():
    numbers = lfds.atlas(fitted(), clouds(), show=[5]).numbers
    data = page_data(numbers)
    (graph,) = data["graphs"]
    np.testing.assert_allclose(graph["probabilities"], numbers.probabilities[5], atol=1e-6)
    np.testing.assert_allclose(
        graph["pools"][0]["deciding"], numbers.graphs[0].deciding[0], atol=1e-6
    )
    np.testing.assert_allclose(data["pools"][0]["usage"], numbers.pools[0].usage, atol=1e-6)
    assert data["counts"] == [2] * 8
    assert graph["target"] == int(clouds().y[5])


def test_unknown_classes_and_empty_graphs_are_no_trouble():
    data = page_data(lfds.atlas(fitted(), strings()).numbers)
    assert data["graphs"][-1]["places"] == []
    assert {graph["target"] for graph in data["graphs"]} == {-1}
    assert not data["grouped"]


def test_json_has_no_way_out_of_its_element():
    text = safe_json({"a": "</script><!--&\u2028"})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"a": "</script><!--&\u2028"}


def test_a_page_of_fifty_graphs_can_be_mailed():
    graphs = lfds.GraphSet.from_arrays([150] * 50, [[], []], [k % 2 for k in range(50)])
    model = lfds.LFDSClassifier(epochs=1, options={"width": 8}, validation=0.0).fit(graphs)
    assert len(lfds.atlas(model, graphs).html) < 3e6
