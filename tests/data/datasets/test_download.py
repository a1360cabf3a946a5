import hashlib
import os

import pytest

from lfds.data import DataError
from lfds.data.datasets.download import download_file
from tests.data.server import serving

CONTENT = os.urandom(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server():
    with serving(CONTENT) as running:
        yield running


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_a_file_is_fetched_whole(server, tmp_path):
    seen = []
    found = download_file(
        f"{server.url}/S.zip",
        tmp_path / "deep" / "S.zip",
        sha256=SHA256.upper(),
        progress=lambda *p: seen.append(p),
    )
    assert found == SHA256
    assert (tmp_path / "deep" / "S.zip").read_bytes() == CONTENT
    assert names(tmp_path / "deep") == ["S.zip"]
    assert seen[0] == (0, len(CONTENT))
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert [here for here, _ in seen] == sorted(here for here, _ in seen)


def test_a_cut_connection_goes_on_where_it_stopped(server, tmp_path):
    server.cuts = [100_000, 50_000, 0, 70_000]
    download_file(f"{server.url}/S.zip", tmp_path / "S.zip", sha256=SHA256, pause=0)
    assert (tmp_path / "S.zip").read_bytes() == CONTENT
    assert server.asked == [None, *(f"bytes={n}-" for n in (100_000, 150_000, 150_000, 220_000))]
    assert names(tmp_path) == ["S.zip"]


def test_the_next_call_goes_on_where_the_last_one_gave_up(server, tmp_path):
    server.cuts = [100_000, 0, 0]
    with pytest.raises(DataError, match=r"cannot be downloaded \(the connection was interrupted\)"):
        download_file(f"{server.url}/S.zip", tmp_path / "S.zip", attempts=3, pause=0)
    assert not (tmp_path / "S.zip").exists()
    download_file(f"{server.url}/S.zip", tmp_path / "S.zip", sha256=SHA256)
    assert server.asked[-1] == "bytes=100000-"
    assert names(tmp_path) == ["S.zip"]


@pytest.mark.parametrize("version", ['"two"', ""])
def test_another_version_starts_from_the_beginning(server, tmp_path, version):
    server.version = '"one"' if version else ""
    server.cuts = [100_000]
    with pytest.raises(DataError, match="cannot be downloaded"):
        download_file(f"{server.url}/S.zip", tmp_path / "S.zip", attempts=1)
    server.content, server.version = CONTENT[::-1], version
    download_file(f"{server.url}/S.zip", tmp_path / "S.zip", pause=0)
    assert (tmp_path / "S.zip").read_bytes() == CONTENT[::-1]


def test_a_part_that_is_too_long_is_thrown_away(server, tmp_path):
    (tmp_path / ".S.zip.part").write_bytes(b"x" * 400_000)
    (tmp_path / ".S.zip.version").write_text('"one"')
    download_file(f"{server.url}/S.zip", tmp_path / "S.zip", sha256=SHA256, pause=0)
    assert names(tmp_path) == ["S.zip"]


def test_a_busy_server_is_asked_again(server, tmp_path):
    server.errors = [503, 500]
    download_file(f"{server.url}/S.zip", tmp_path / "S.zip", sha256=SHA256, pause=0)
    assert len(server.asked) == 3


def test_a_server_that_stays_busy_is_given_up(server, tmp_path):
    server.errors = [503, 503]
    with pytest.raises(DataError, match=r"cannot be downloaded .the server answered 503"):
        download_file(f"{server.url}/S.zip", tmp_path / "S.zip", attempts=2, pause=0)


def test_a_file_that_is_not_there_is_not_asked_for_again(server, tmp_path):
    with pytest.raises(DataError, match="the server answered 404"):
        download_file(f"{server.url}/no/S.zip", tmp_path / "S.zip")
    assert len(server.asked) == 1
    assert names(tmp_path) == []


def test_without_a_length_the_end_is_the_end(server, tmp_path):
    server.tells_length = False
    assert download_file(f"{server.url}/S.zip", tmp_path / "S.zip") == SHA256


def test_a_wrong_checksum_leaves_nothing(server, tmp_path):
    with pytest.raises(DataError, match=f"has the SHA-256 {SHA256} where 00 is needed"):
        download_file(f"{server.url}/S.zip", tmp_path / "S.zip", sha256="00")
    assert names(tmp_path) == []


def test_content_that_fails_the_check_leaves_nothing(server, tmp_path):
    def refuse(path):
        raise DataError(f"holds {path.stat().st_size} bytes of nonsense")

    with pytest.raises(DataError, match="holds 300000 bytes of nonsense"):
        download_file(f"{server.url}/S.zip", tmp_path / "S.zip", check=refuse)
    assert names(tmp_path) == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/S.zip", "http://no.such.host.invalid/S.zip"])
def test_nobody_at_home_is_a_data_error(url, tmp_path):
    with pytest.raises(DataError, match="cannot be downloaded"):
        download_file(url, tmp_path / "S.zip", attempts=1)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/file", "S.zip"])
def test_only_the_web_is_fetched_from(url, tmp_path):
    with pytest.raises(DataError, match="begins with http"):
        download_file(url, tmp_path / "S.zip")


def test_a_place_that_cannot_be_made_is_named(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be made"):
        download_file(server.url, tmp_path / "file" / "S.zip")
