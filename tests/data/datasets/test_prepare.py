import pytest

import lfds
from lfds.data import DataError
from lfds.data.datasets import prepare as module
from lfds.data.datasets.catalog import Published
from lfds.data.datasets.prepare import prepare
from tests.data.server import serving
from tests.data.tu_folders import FILES, write_folder, write_zip


@pytest.fixture
def packed(tmp_path):
    return write_zip(tmp_path / "packed.zip", FILES).read_bytes()


def test_existing_files_are_checked_and_saved(tmp_path):
    write_folder(tmp_path / "data" / "S", FILES)
    ready = prepare("S", tmp_path / "data")
    assert ready.saved == tmp_path / "data" / "S.graphs"
    assert ready.sha256 is None
    assert ready.summary.isolated_nodes == 1
    assert lfds.load_dataset("S", tmp_path / "data").equals(ready.graphs)


def test_missing_files_are_downloaded_on_request(packed, tmp_path):
    with serving(packed) as server:
        server.cuts = [100]
        ready = prepare("S", tmp_path / "data", download=True, source=f"{server.url}/sets/")
    assert len(ready.graphs) == 3
    assert ready.sha256 is not None
    assert sorted(entry.name for entry in (tmp_path / "data").iterdir()) == ["S.graphs", "S.zip"]


def test_other_statistics_than_published_are_reported(packed, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "TU_DATASETS", {"S": Published(3, 2, 2.0, 9.0, "")})
    with serving(packed) as server:
        ready = prepare("S", tmp_path / "data", download=True, source=server.url)
    assert len(ready.differences) == 1
    assert (tmp_path / "data" / "S.zip").read_bytes() == packed


def test_a_download_with_another_checksum_is_deleted(packed, tmp_path):
    with serving(packed) as server, pytest.raises(DataError, match="has the SHA-256"):
        prepare("S", tmp_path / "data", download=True, source=server.url, sha256="0" * 64)
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"PK\x03\x04junk"])
def test_a_download_that_is_no_dataset_is_discarded(content, tmp_path):
    with serving(content) as server, pytest.raises(DataError, match=r"put .*S\.zip at"):
        prepare("S", tmp_path / "data", download=True, source=server.url)
    assert list((tmp_path / "data").iterdir()) == []


def test_without_network_the_error_says_where_to_put_files(tmp_path, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(DataError, match=r"cannot be downloaded .*; put .*/DD\.zip at .*DD\.zip"):
        prepare("DD", tmp_path, download=True, source="http://127.0.0.1:9")


def test_without_download_the_error_says_where_to_put_files(tmp_path):
    with pytest.raises(DataError, match=r"put .*DD\.zip at .*, or run `.*DD --download"):
        prepare("DD", tmp_path)
    with pytest.raises(DataError, match="did you mean 'DD'"):
        prepare("D_D", tmp_path)
    with pytest.raises(DataError, match="built in"):
        prepare("pc-graphs", tmp_path)


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "", "..", "a/b", "a\x1bb"])
def test_a_name_cannot_leave_the_root(tmp_path, name):
    with pytest.raises(DataError, match="name: needs the name of a dataset, which is no path"):
        prepare(name, tmp_path / "root", download=True)
    assert list(tmp_path.iterdir()) == []
