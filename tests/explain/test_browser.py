"""The page in Chromium, used by pointer and by keys."""

import numpy as np
import pytest

import lfds
from lfds.explain.capture import latent_pools
from tests.browser import DESKTOP, PHONE
from tests.explain.models import clouds, fitted, labels, paths, pool_inputs

pytestmark = pytest.mark.browser

HALF_A_LEVEL = 0.5 / 65535 + 1e-6  # the page writes six digits of rounded shares


def shares_of(model, number):
    """The shares of the pool, computed without any code of the atlas."""
    batch = model.encoder_.transform(clouds()).batch([number])
    network = model.network_.eval()
    nodes = pool_inputs(network, batch)
    (pool,) = latent_pools(network)
    return pool.shares(nodes.detach(), ptr=batch.ptr).detach().numpy()


def values(page, what):
    marks = page.locator(what)
    return np.array(marks.evaluate_all("all => all.map(one => Number(one.dataset.value))"))


@pytest.fixture
def opened(browser, tmp_path):
    def open_atlas(model=None, graphs=None, show=(5, 2), y=None, **options):
        made = lfds.atlas(model or fitted(), graphs or clouds(), y, show=list(show))
        made.save(tmp_path / "atlas.html")
        seen = browser(tmp_path / "atlas.html", **options)
        # The page begins with the graph about which there is most to explain.
        seen.page.evaluate("document.querySelector('#gallery button').click()")
        return seen

    return open_atlas


@pytest.mark.parametrize("structure", lfds.STRUCTURES)
def test_it_opens_without_messages_and_requests(opened, structure):
    seen = opened(fitted(structure), size=PHONE)
    assert slots_beyond_their_pane(seen.page) <= 0
    for width, height in (PHONE, DESKTOP):
        seen.page.set_viewport_size({"width": width, "height": height})
        assert seen.overflow() <= 0
    assert seen.messages == []
    assert [url for url in seen.requests if not url.startswith("data:image/png")] == []
    assert seen.page.locator("#graph [data-node]").count() == 20
    assert seen.page.locator("#slots [data-slot]").count() == 9


def slots_beyond_their_pane(page):
    """Return by how many pixels a slot is cut off at most."""
    return page.evaluate(
        """() => {
          const pane = document.querySelector("#slots").getBoundingClientRect();
          const marks = [...document.querySelectorAll("#slots .mark")];
          return Math.max(...marks.map((one) => one.getBoundingClientRect()).map((box) =>
            Math.max(pane.top - box.top, box.bottom - pane.bottom,
                     pane.left - box.left, box.right - pane.right)));
        }"""
    )


def test_the_dot_of_the_legend_stays_beside_its_text(opened):
    page = opened(size=PHONE).page
    tops = []
    # At any width the dot is on the line of its text.
    for width in range(120, 340, 10):
        page.locator("#slots-scale").evaluate("(one, w) => { one.style.width = w + 'px' }", width)
        dot = page.locator("#slots-scale b").bounding_box()
        words = page.evaluate(
            """() => {
              const all = document.createTreeWalker(document.querySelector("#slots-scale"), 4);
              let last = null;
              while (all.nextNode()) last = all.currentNode;
              const range = document.createRange();
              range.selectNodeContents(last);
              const box = range.getBoundingClientRect();
              return [last.textContent, box.top, box.bottom];
            }"""
        )
        assert words[0].startswith("dot: what the slot adds")
        assert words[1] <= dot["y"] + dot["height"] / 2 <= words[2], width
        tops.append(dot["y"])
    assert len(set(tops)) > 1, "the legend was never broken into other lines"


def test_the_histogram_is_not_cut_and_its_letters_are_legible(opened):
    for size in (PHONE, DESKTOP):
        page = opened(size=size).page
        box = page.locator("#usage").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= size[0]
        heights = "all => all.map(one => one.getBoundingClientRect().height)"
        assert min(page.locator("#usage text").evaluate_all(heights)) > 8


def test_pointing_at_a_node_shows_its_shares(opened):
    page = opened().page
    expected = shares_of(fitted(), 5)
    for node in (0, 7, 19):
        page.locator(f"#graph [data-node='{node}']").dispatch_event("pointerover")
        np.testing.assert_allclose(values(page, "#slots .mark"), expected[node], atol=HALF_A_LEVEL)
        lit = page.locator("#slots .mark").evaluate_all(
            "all => all.map(one => parseFloat(one.style.getPropertyValue('--v')))"
        )
        strength = expected[node] / expected[node].max()
        np.testing.assert_allclose(lit, 100 * strength, atol=0.2)
        words = page.locator("#description").inner_text().replace("\u00a0", " ")
        assert "Without it the probability of" in words
        best = int(expected[node].argmax())
        start = f"Node {node} lands on slot {best} ({100 * expected[node, best]:.1f} %)"
        assert words.startswith(start)


def test_pointing_at_a_slot_shows_its_nodes(opened):
    page = opened().page
    page.hover("#slots [data-slot='4']")
    expected = shares_of(fitted(), 5)[:, 4]
    np.testing.assert_allclose(values(page, "#graph .mark"), expected, atol=HALF_A_LEVEL)
    assert page.locator("#slots .selected").get_attribute("data-slot") == "4"
    assert "Slot 4 holds" in page.locator("#description").inner_text()
    page.mouse.move(2, 2)
    assert page.locator(".selected").count() == 0


def test_without_a_selection_mass_and_support_are_shown(opened):
    page = opened().page
    numbers = lfds.atlas(fitted(), clouds(), show=[5]).numbers
    np.testing.assert_allclose(values(page, "#slots .mark"), numbers.pools[0].mass[5], atol=2e-6)
    (view,) = numbers.graphs
    support = view.support(numbers.output(view))
    np.testing.assert_allclose(values(page, "#graph .mark"), support, atol=1e-4)


def test_another_class_is_explained_on_request(opened):
    page = opened().page
    numbers = lfds.atlas(fitted(), clouds(), show=[5]).numbers
    (view,) = numbers.graphs
    other = (numbers.output(view) + 1) % 8
    page.select_option("#output", str(other))
    np.testing.assert_allclose(values(page, "#graph .mark"), view.support(other), atol=1e-4)
    words = page.locator("#decided-text").inner_text()
    score = f"{view.scores[other]:.2f}".replace("-", "\N{MINUS SIGN}")
    assert f"log-odds of {numbers.classes[other]} are {score}:" in words
    first = page.locator("#winners button").first.inner_text().split("\n")
    effects = view.slot_effects[0][:, other]
    assert first[0] == f"slot {np.abs(effects).argmax()}"
    largest = effects[np.abs(effects).argmax()]
    assert float(first[1].replace("\N{MINUS SIGN}", "-")) == pytest.approx(largest, abs=0.0051)


def test_graphs_are_found_and_stepped_through(browser, tmp_path):
    made = lfds.atlas(fitted(), clouds(), labels(), show=16)
    made.save(tmp_path / "atlas.html")
    seen = browser(tmp_path / "atlas.html")
    page, numbers = seen.page, made.numbers
    # It begins with the graph about which there is most to explain.
    best = numbers.graphs[numbers.first].number
    assert numbers.interest[best] == max(numbers.interest[g.number] for g in numbers.graphs)
    assert f"Graph {best}," in page.locator("#graph-title").inner_text()
    thumbnails = page.locator("#gallery button:visible")
    assert thumbnails.count() == 16
    wrong = int((numbers.target != numbers.predicted).sum())
    assert page.locator("#gallery button.wrong").count() == wrong > 0
    page.select_option("#filter", "wrong")
    assert thumbnails.count() == wrong
    page.select_option("#filter", "class2")
    assert thumbnails.count() == 2
    page.locator("h1").click()
    titles = set()
    for _ in range(3):
        titles.add(page.locator("#graph-title").inner_text())
        page.keyboard.press("ArrowRight")
    assert len(titles) == 2
    assert all(f"class {numbers.classes[2]}" in title for title in titles)
    page.select_option("#filter", "all")
    page.locator("h1").click()
    page.keyboard.press("/")
    assert seen.focused() == "search"
    page.keyboard.type("guitar")
    assert thumbnails.count() == 2
    assert "2 of 16 graphs" in page.locator("#found").inner_text()
    page.fill("#search", "")
    page.locator("#gallery button").nth(4).click()
    title = page.locator("#graph-title").inner_text()
    assert title.startswith(f"Graph {numbers.graphs[4].number},")
    assert (seen.messages, seen.requests, seen.overflow()) == ([], [], 0)


def test_slots_are_numbered_and_have_typical_nodes(opened):
    page = opened().page
    assert page.locator("#slots .slot-number").all_text_contents() == [str(n) for n in range(9)]
    numbers = lfds.atlas(fitted(), clouds(), show=[5]).numbers
    used = int((~numbers.pools[0].idle).sum())
    assert page.locator("#meanings .card").count() == used
    first = page.locator("#meanings .card svg").first.get_attribute("aria-label")
    share, graph, node = numbers.pools[0].typical[int(np.flatnonzero(~numbers.pools[0].idle)[0])][0]
    assert first.replace("\u00a0", " ") == (
        f"node {node} of graph {graph}, share {100 * share:.1f} %"
    )
    page.locator("#meanings .card button").nth(2).click()
    assert page.locator("#slots .selected").count() == 1


def test_molecules_have_elements_bonds_and_a_legend(browser, tmp_path):
    pytest.importorskip("rdkit")
    smiles = ["c1ccccc1C#N", "CC(=O)OCl", "CCO", "CCN"] * 3
    model = lfds.LFDSClassifier("loop", epochs=1, options={"width": 8}, validation=0.0)
    model.fit(smiles, ["ring", "chain", "chain", "chain"] * 3)
    lfds.atlas(model, smiles, show=[0, 1]).save(tmp_path / "atlas.html")
    seen = browser(tmp_path / "atlas.html")
    page = seen.page
    page.locator("#gallery button").nth(1).click()
    letters = [text for text in page.locator("#graph .letter").all_text_contents() if text]
    assert sorted(letters) == ["Cl", "O", "O"]
    assert page.locator("#legend .entry").all_inner_texts() == [
        "C",
        "O",
        "N",
        "Cl",
    ]  # frequent first
    chlorine = page.locator("#graph title", has_text="element Cl")
    assert chlorine.count() == 1
    # Four bonds, one of them of two lines.
    path = page.locator("#graph .edge").first.get_attribute("d")
    assert path.count("M") == 5
    assert seen.messages == []


def test_keys_move_through_nodes_and_slots(opened):
    page = opened().page
    page.locator("#graph [data-node='0']").focus()
    expected = shares_of(fitted(), 5)
    np.testing.assert_allclose(values(page, "#slots .mark"), expected[0], atol=HALF_A_LEVEL)
    page.keyboard.press("PageDown")
    np.testing.assert_allclose(values(page, "#slots .mark"), expected[1], atol=HALF_A_LEVEL)
    assert page.evaluate("document.activeElement.dataset.node") == "1"
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.dataset.node") == "19"
    page.keyboard.press("Enter")
    page.locator("#choice").focus()
    assert page.locator("#graph .selected").get_attribute("data-node") == "19"  # pinned
    page.keyboard.press("Escape")
    assert page.locator(".selected").count() == 0


def test_arrow_keys_move_in_their_direction(opened):
    page = opened(fitted("image")).page  # three by three
    page.locator("#slots [data-slot='4']").focus()
    for key, slot in (("ArrowRight", 5), ("ArrowUp", 2), ("ArrowLeft", 1), ("ArrowDown", 4)):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.slot") == str(slot)


def test_tab_reaches_one_node_and_one_slot(opened):
    page = opened().page
    assert page.locator("#graph [tabindex='0']").count() == 1
    page.locator("#graph [data-node='0']").focus()
    page.keyboard.press("PageDown")
    assert page.locator("#graph [tabindex='0']").get_attribute("data-node") == "1"


def test_graphs_are_changed_by_keys_buttons_and_list(opened):
    page = opened(show=(5, 2, 9)).page
    title = page.locator("#graph-title")
    assert title.inner_text().startswith("Graph 5, class ")
    page.keyboard.press("ArrowRight")
    assert title.inner_text().startswith("Graph 2, ")
    page.click("#next")
    assert title.inner_text().startswith("Graph 9, ")
    page.keyboard.press("ArrowRight")
    assert title.inner_text().startswith("Graph 5, ")  # cyclic
    page.click("#previous")
    page.select_option("#choice", "1")
    assert title.inner_text().startswith("Graph 2, ")
    np.testing.assert_allclose(values(page, "#slots .mark").sum(), 1, atol=1e-4)


def test_a_click_pins_and_a_second_clears(opened):
    page = opened().page
    page.click("#slots [data-slot='3']")
    page.hover("#slots [data-slot='6']")
    assert page.locator("#slots .selected").get_attribute("data-slot") == "3"
    page.click("#slots [data-slot='3']")
    page.mouse.move(2, 2)
    assert page.locator("#slots .selected").count() == 0


def test_a_tap_pins(opened):
    page = opened(size=PHONE, has_touch=True).page
    page.tap("#slots [data-slot='3']")
    assert page.locator("#slots .selected").get_attribute("data-slot") == "3"


def test_class_names_are_escaped(opened):
    seen = opened(fitted(classes="odd"), y=labels("odd"))
    assert seen.messages == []
    for where in ("#graph-title", "#prediction", "#maps"):
        assert "</script><script>alert(1)</script>" in seen.page.locator(where).inner_text()
    assert seen.page.locator("script").count() == 2


def test_predictions_are_those_of_the_model(opened):
    page = opened().page
    model = fitted()
    expected = model.predict_proba(clouds()[5])[0]
    first = page.locator("#prediction .first")
    assert first.locator(".name").inner_text().startswith(model.classes_[expected.argmax()])
    shown = first.locator(".value").inner_text()
    assert shown.replace("\u00a0", " ") == f"{100 * expected.max():.1f} %"
    assert page.locator("#prediction small").count() == 1


def test_usage_and_class_maps(opened):
    page = opened().page
    pool = lfds.atlas(fitted(), clouds(), show=[5]).numbers
    shown = values(page, "#usage [data-value]")
    np.testing.assert_allclose(shown, pool.pools[0].usage, atol=2e-6)
    maps = values(page, "#maps .mark").reshape(8, 9)
    by_hand = [pool.pools[0].mass[clouds().y.numpy() == c].mean(axis=0) for c in range(8)]
    np.testing.assert_allclose(maps, by_hand, atol=2e-6)
    page.check("#difference")
    maps = values(page, "#maps .mark").reshape(8, 9)
    np.testing.assert_allclose(maps, np.array(by_hand) - pool.pools[0].usage, atol=4e-6)


def test_clouds_rotate(opened):
    page = opened().page
    before = page.locator("#graph [data-node='3']").get_attribute("cx")
    page.locator("#turn").fill("200")
    assert page.locator("#graph [data-node='3']").get_attribute("cx") != before
    assert page.locator("#turning").is_visible()


def test_another_structure_can_be_shown(opened):
    seen = opened(fitted("image+loop"))
    page = seen.page
    assert page.locator("#slots-title").inner_text() == "Image of 3 x 3 slots"
    page.get_by_label("Loop of 9 slots", exact=True).first.check()
    assert page.locator("#slots-title").inner_text() == "Loop of 9 slots"
    page.locator("#graph [data-node='2']").dispatch_event("pointerover")
    numbers = lfds.atlas(fitted("image+loop"), clouds(), show=[5]).numbers
    expected = numbers.graphs[0].shares[1][2]
    np.testing.assert_allclose(values(page, "#slots .mark"), expected, atol=HALF_A_LEVEL)
    assert seen.messages == []


def test_small_and_empty_graphs(opened):
    seen = opened(graphs=paths(), show=range(7))
    for _ in range(7):
        seen.page.keyboard.press("ArrowRight")
    assert seen.messages == []
    assert not seen.page.locator("#turning").is_visible()
    assert "as predicted" in seen.page.locator("#maps-text").inner_text()
    seen.page.keyboard.press("ArrowLeft")
    assert "has no nodes" in seen.page.locator("#description").inner_text()


def test_values_of_a_regressor_are_shown(opened):
    points = [np.random.default_rng(k).normal(size=(6, 2)) for k in range(12)]
    model = lfds.LFDSRegressor(slots=4, epochs=1, options={"width": 8}).fit(points, np.arange(12.0))
    seen = opened(model, points)
    assert seen.messages == []
    assert not seen.page.locator("#maps").is_visible()
    shown = float(seen.page.locator("#prediction .first span").nth(1).inner_text())
    assert shown == pytest.approx(model.predict(points)[5], rel=1e-5)


def test_it_works_in_a_notebook(browser, tmp_path):
    made = lfds.atlas(fitted(), clouds(), show=[5])
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><body>{made._repr_html_()}", encoding="utf-8")
    seen = browser(notebook)
    frame = seen.page.frame_locator("iframe")
    assert frame.locator("#graph [data-node]").count() == 20
    assert seen.messages == []


def test_class_names_are_escaped_in_a_notebook(browser, tmp_path):
    made = lfds.atlas(fitted(classes="odd"), clouds(), labels("odd"), show=[5])
    notebook = tmp_path / "notebook.html"
    shown = f"<!doctype html><body>{made._repr_html_()}<p id='after'>after</p>"
    notebook.write_text(shown, encoding="utf-8")
    seen = browser(notebook)
    frame = seen.page.frame_locator("iframe")
    assert frame.locator("#graph [data-node]").count() == 20
    assert "</script><script>alert(1)</script>" in frame.locator("#graph-title").inner_text()
    assert frame.locator("script").count() == 2
    # Nothing of the page is outside of its frame.
    assert seen.page.locator("body > *").count() == 2
    assert seen.page.locator("body > #after").inner_text() == "after"
    assert seen.messages == []


def test_print_is_dark_on_white_in_two_columns_without_buttons(opened):
    seen = opened(fitted("loop+image"), size=(680, 1000), color_scheme="dark")
    seen.page.emulate_media(media="print", color_scheme="dark")
    colors = seen.page.evaluate(
        "(({color, backgroundColor}) => [color, backgroundColor])(getComputedStyle(document.body))"
    )
    assert colors == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    assert seen.page.locator("button:visible, select:visible, input:visible").count() == (
        seen.page.locator("#winners button, .card > button").count()
    )
    graph, slots = (seen.page.locator(pane).bounding_box() for pane in ("#graph", "#slots"))
    assert graph["x"] + graph["width"] <= slots["x"]
    assert seen.overflow() <= 0
    wide = seen.page.locator(".wide").evaluate(
        "one => [getComputedStyle(one).backgroundImage, one.scrollWidth - one.clientWidth]"
    )
    assert wide == ["none", 0]
