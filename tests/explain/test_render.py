import base64
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import lfds
from lfds.explain.render import packed_shares, page_data, render_page, safe_json, share_levels
from tests.explain.models import clouds, fitted, paths


class Elements(HTMLParser):
    """Collects the elements of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.addresses = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href")]


def data_of(html):
    text = re.search(r'id="data">(.*?)</script>', html, flags=re.DOTALL).group(1)
    return json.loads(text)


def test_a_page_refers_to_no_other_files():
    elements = Elements()
    html = lfds.atlas(fitted(), clouds(), show=2).html
    elements.feed(html)
    assert elements.addresses == []
    assert "link" not in elements.tags
    assert elements.tags.count("script") == 2
    assert "default-src 'none'" in html
    assert "{{" not in html.replace(json.dumps("{{"), "")


def test_class_names_are_escaped():
    html = lfds.atlas(fitted(classes="odd"), clouds(), show=2).html
    elements = Elements()
    elements.feed(html)
    assert elements.tags.count("script") == 2
    assert "<script>alert" not in html
    assert any("</script><script>alert(1)</script>" in name for name in data_of(html)["classes"])


def test_the_name_of_the_dataset_is_escaped():
    numbers = lfds.atlas(fitted(), clouds(), show=1).numbers
    object.__setattr__(numbers, "name", "<b>&{{data}}</b>")
    html = render_page(numbers)
    assert "<b>" not in html
    assert "&lt;b&gt;&amp;{{data}}&lt;/b&gt;" in html
    assert data_of(html)["name"] == "<b>&{{data}}</b>"


@pytest.mark.parametrize("levels", [255, 65535])
def test_shares_are_rounded_to_half_a_level(levels):
    shares = np.random.default_rng(0).dirichlet(np.ones(9), size=40).astype(np.float32)
    raw = base64.b64decode(packed_shares(shares, levels))
    read = np.frombuffer(raw, dtype="<u2" if levels > 255 else "u1").reshape(40, 9) / levels
    assert np.abs(read - shares).max() <= 0.5 / levels + 1e-9


def test_very_large_pages_store_shares_in_one_byte():
    numbers = lfds.atlas(fitted(), clouds(), show=2).numbers
    assert share_levels(numbers) == 65535
    assert share_levels(numbers, two_bytes_up_to=100) == 255
    for levels, size in ((65535, 2 * 20 * 9), (255, 20 * 9)):
        shares = page_data(numbers, levels)["graphs"][0]["pools"][0]["shares"]
        assert len(base64.b64decode(shares)) == size


def test_the_page_has_the_numbers_of_the_atlas():
    numbers = lfds.atlas(fitted(), clouds(), show=[5]).numbers
    data = page_data(numbers)
    (graph,) = data["graphs"]
    np.testing.assert_allclose(graph["probabilities"], numbers.probabilities[5], atol=1e-6)
    np.testing.assert_allclose(
        graph["pools"][0]["effects"], numbers.graphs[0].slot_effects[0].T, atol=1e-4
    )
    np.testing.assert_allclose(data["pools"][0]["usage"], numbers.pools[0].usage, atol=1e-6)
    assert data["counts"] == [2] * 8
    assert graph["target"] == int(clouds().y[5])


def test_unknown_classes_and_empty_graphs():
    data = page_data(lfds.atlas(fitted(), paths()).numbers)
    assert data["graphs"][-1]["positions"] == []
    assert {graph["target"] for graph in data["graphs"]} == {-1}
    assert not data["grouped"]


def test_json_cannot_close_its_element():
    text = safe_json({"a": "</script><!--&\u2028"})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"a": "</script><!--&\u2028"}


def test_a_page_of_fifty_graphs_is_smaller_than_3_mb():
    graphs = lfds.GraphSet.from_arrays([150] * 50, [[], []], [k % 2 for k in range(50)])
    model = lfds.LFDSClassifier(epochs=1, options={"width": 8}, validation=0.0).fit(graphs)
    assert len(lfds.atlas(model, graphs).html) < 3e6
