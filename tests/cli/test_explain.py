import pytest

from tests.explain.models import clouds, fitted


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    fitted().save(folder / "model")
    clouds().save(folder / "graphs")
    return folder / "model", folder / "graphs"


def test_a_page_and_figures_are_written(lfds, saved, tmp_path):
    page, figures = tmp_path / "a.html", tmp_path / "figures"
    code, out, _ = lfds("explain", *saved, "-o", page, "--pick", 3, 7, "--figures", figures)
    assert code == 0
    first, second = out.splitlines()
    assert first.startswith(f"2 of 16 graphs in {page} (0.")
    assert second == f"8 figures in {figures}"
    assert "Where the nodes go" in page.read_text(encoding="utf-8")
    assert sorted(path.name for path in figures.iterdir())[2] == "graph-0003.png"


def test_the_number_of_graphs(lfds, saved, tmp_path):
    assert lfds("explain", *saved, "--graphs", 5)[1].startswith("5 of 16 graphs in atlas.html")
    assert lfds("explain", *saved)[1].startswith("16 of 16 graphs")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--pick", 99), "lfds: there is no graph 99; they are numbered 0 to 15"),
        (("--graphs", 0), "lfds: --graphs: needs at least 1, not 0"),
        (("--graphs", 1, "--pick", 1), "lfds: --graphs and --pick exclude each other"),
    ],
)
def test_invalid_options_are_one_line(lfds, saved, tmp_path, options, message):
    code, _, err = lfds("explain", *saved, "-o", "a.html", *options)
    assert code == 2
    assert err.startswith(message)
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_missing_model_is_one_line(lfds, saved, tmp_path):
    code, _, err = lfds("explain", tmp_path / "none", saved[1], "-o", tmp_path / "a.html")
    assert code == 2
    assert str(tmp_path / "none") in err
    assert list(tmp_path.iterdir()) == []


def test_figures_in_the_place_of_a_file_are_refused_before_the_page_is_written(
    lfds, saved, tmp_path
):
    (tmp_path / "file").write_text("")
    for figures in (tmp_path / "file", tmp_path / "file" / "below"):
        code, out, err = lfds("explain", *saved, "-o", "a.html", "--figures", figures)
        assert (code, out) == (2, "")
        assert err.startswith(f"lfds: {tmp_path / 'file'}: is a file, where a folder is to be")
        assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_page_that_cannot_be_written_is_one_line(lfds, saved, tmp_path):
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "a.html"
    code, _, err = lfds("explain", *saved, "-o", out)
    assert code == 2
    assert err.startswith(f"lfds: {out.parent}: is a file, where a folder is to be written")
