"""The site is built without warnings, and the notebooks run to the outputs they show."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser import DESKTOP, PHONE

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("mkdocs")

DOCS = Path(__file__).parents[1] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def build_site(folder, root=DOCS.parent):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder]
    quiet = {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(root / "src")}
    return subprocess.run(
        list(map(str, command)),
        cwd=root,
        env={**os.environ, **quiet},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build_site(folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def test_every_link_and_anchor_of_the_site_is_there(site):
    # mkdocs --strict checks them.
    assert (site / "index.html").exists()
    assert (site / "notebooks" / "molecules.html").exists()


def test_pages_need_no_network(site):
    for page in site.rglob("*.html"):
        text = page.read_text()
        for tag in ('src="http', "src='http", 'rel="stylesheet" href="http', "url(http"):
            assert tag not in text, f"{page.name}: {tag}"


@pytest.mark.browser
@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_search_works_from_the_disk(site, browser, size):
    opened = browser(site / "concepts" / "statistics.html", size=size)
    opened.page.evaluate("document.getElementById('__search').click()")
    opened.page.locator("input.md-search__input").press_sequentially("LearnedSpectrum")
    found = opened.page.locator(".md-search-result__link").first
    found.wait_for()
    assert "structures.html" in found.get_attribute("href")
    assert opened.messages == []
    assert opened.overflow() == 0


def test_examples_are_shown_as_code(site):
    # Without a fence Markdown takes the prompt >>> for quotes in quotes.
    for page in site.rglob("*.html"):
        assert page.read_text().count("<blockquote>\n<blockquote>") == 0, page.name


def test_all_public_names_have_a_reference(site):
    import lfds

    pages = "".join(page.read_text() for page in (site / "reference").glob("*.html"))
    packages = {"data", "nn", "testing", "STRUCTURES"}
    missing = [name for name in lfds.__all__ if name not in packages and f'.{name}"' not in pages]
    assert missing == []


def test_options_of_estimators_are_described_with_their_defaults(site):
    page = (site / "reference" / "estimators.html").read_text()
    assert "Number of epochs, at most." in page
    assert "DEFAULTS" not in page


def test_equations_of_docstrings_are_drawn(site):
    page = (site / "reference" / "layer.html").read_text()
    assert "<math" in page
    assert ".. math::" not in page
    assert ":class:" not in page


def test_all_commands_have_a_reference(site):
    from lfds.cli.app import app

    page = (site / "reference" / "cli.html").read_text()
    assert "--final-learning-rate" in page  # an option made of a setting
    for command in app.registered_commands:
        assert f'id="lfds-{command.name}"' in page, command.name


def test_a_broken_link_is_found(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    for name in ("docs", "mkdocs.yml", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"):
        subprocess.run(["cp", "-r", str(DOCS.parent / name), str(root)], check=True)
    for name in ("benchmarks", "results", "examples", "src"):
        (root / name).symlink_to(DOCS.parent / name)
    with (root / "docs" / "testing.md").open("a") as page:
        page.write("\n[nowhere](nowhere.md)\n")
    done = build_site(tmp_path / "site", root)
    assert done.returncode != 0
    assert "nowhere.md" in done.stderr


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    execute = runpy.run_path(str(DOCS / "notebooks" / "execute.py"))["execute"]
    fresh = execute(path)
    assert all(cell.get("execution_count") for cell in fresh.cells if cell.cell_type == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_with_clean_outputs(path):
    stored = nbformat.read(path, as_version=4)
    nbformat.validate(stored)
    outputs = [out for cell in stored.cells for out in cell.get("outputs", ())]
    assert outputs
    assert all(out.output_type != "error" and out.get("name") != "stderr" for out in outputs)
