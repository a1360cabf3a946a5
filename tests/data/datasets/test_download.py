import hashlib
import os
import urllib.request

import pytest

from lfds.data import DataError
from lfds.data.datasets.download import _SameScheme, download_file
from tests.data.server import serving

CONTENT = os.urandom(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server():
    with serving(CONTENT) as running:
        yield running


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def put_part(folder, content):
    """Put a partial download as an earlier call leaves it."""
    part = folder / ".S.zip-earlier.part"
    part.mkdir(mode=0o700)
    (part / "content").write_bytes(content)
    (part / "version").write_text('"one"')
    return part


def test_a_file_is_downloaded_completely(server, tmp_path):
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


def test_an_interrupted_download_is_resumed(server, tmp_path):
    server.cuts = [100_000, 50_000, 0, 70_000]
    download_file(f"{server.url}/S.zip", tmp_path / "S.zip", sha256=SHA256, pause=0)
    assert (tmp_path / "S.zip").read_bytes() == CONTENT
    assert server.ranges == [None, *(f"bytes={n}-" for n in (100_000, 150_000, 150_000, 220_000))]
    assert names(tmp_path) == ["S.zip"]


def test_the_next_call_resumes_a_download(server, tmp_path):
    server.cuts = [100_000, 0, 0]
    with pytest.raises(DataError, match=r"cannot be downloaded \(the connection was interrupted\)"):
        download_file(f"{server.url}/S.zip", tmp_path / "S.zip", attempts=3, pause=0)
    assert not (tmp_path / "S.zip").exists()
    download_file(f"{server.url}/S.zip", tmp_path / "S.zip", sha256=SHA256)
    assert server.ranges[-1] == "bytes=100000-"
    assert names(tmp_path) == ["S.zip"]


@pytest.mark.parametrize("version", ['"two"', ""])
def test_a_changed_file_on_the_server_is_downloaded_from_the_start(server, tmp_path, version):
    server.version = '"one"' if version else ""
    server.cuts = [100_000]
    with pytest.raises(DataError, match="cannot be downloaded"):
        download_file(f"{server.url}/S.zip", tmp_path / "S.zip", attempts=1)
    server.content, server.version = CONTENT[::-1], version
    download_file(f"{server.url}/S.zip", tmp_path / "S.zip", pause=0)
    assert (tmp_path / "S.zip").read_bytes() == CONTENT[::-1]


def test_a_partial_download_that_is_too_long_is_discarded(server, tmp_path):
    put_part(tmp_path, b"x" * 400_000)
    download_file(f"{server.url}/S.zip", tmp_path / "S.zip", sha256=SHA256, pause=0)
    assert names(tmp_path) == ["S.zip"]


def test_server_errors_are_retried(server, tmp_path):
    server.errors = [503, 500]
    download_file(f"{server.url}/S.zip", tmp_path / "S.zip", sha256=SHA256, pause=0)
    assert len(server.ranges) == 3


def test_repeated_server_errors_end_the_download(server, tmp_path):
    server.errors = [503, 503]
    with pytest.raises(DataError, match=r"cannot be downloaded .the server answered 503"):
        download_file(f"{server.url}/S.zip", tmp_path / "S.zip", attempts=2, pause=0)


def test_client_errors_are_not_retried(server, tmp_path):
    with pytest.raises(DataError, match="the server answered 404"):
        download_file(f"{server.url}/no/S.zip", tmp_path / "S.zip")
    assert len(server.ranges) == 1
    assert names(tmp_path) == []


def test_a_download_without_content_length_ends_with_the_connection(server, tmp_path):
    server.sends_length = False
    assert download_file(f"{server.url}/S.zip", tmp_path / "S.zip") == SHA256


def test_a_wrong_checksum_leaves_no_file(server, tmp_path):
    with pytest.raises(DataError, match=f"has the SHA-256 {SHA256} where 00 is needed"):
        download_file(f"{server.url}/S.zip", tmp_path / "S.zip", sha256="00")
    assert names(tmp_path) == []


def test_content_that_fails_the_check_leaves_no_file(server, tmp_path):
    def refuse(path):
        raise DataError(f"holds {path.stat().st_size} bytes of nonsense")

    with pytest.raises(DataError, match="holds 300000 bytes of nonsense"):
        download_file(f"{server.url}/S.zip", tmp_path / "S.zip", check=refuse)
    assert names(tmp_path) == []


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/S.zip", "http://no.such.host.invalid/S.zip"])
def test_an_unreachable_server_is_a_data_error(url, tmp_path):
    with pytest.raises(DataError, match="cannot be downloaded"):
        download_file(url, tmp_path / "S.zip", attempts=1)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/file", "S.zip"])
def test_only_http_addresses_are_accepted(url, tmp_path):
    with pytest.raises(DataError, match="begins with http"):
        download_file(url, tmp_path / "S.zip")


@pytest.mark.parametrize(
    "url",
    ["http://", "https:///S.zip", "http://host:port/S.zip", "http://[::1/S.zip", "http://h/a b"],
)
def test_an_invalid_address_is_refused_at_once(url, tmp_path, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: pytest.fail("there was a second attempt"))
    with pytest.raises(DataError, match=r"invalid address \(.*\); use https://HOST"):
        download_file(url, tmp_path / "S.zip")


def test_a_folder_that_cannot_be_created_is_named(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="/file: is a file, where a folder"):
        download_file(server.url, tmp_path / "file" / "S.zip")


@pytest.mark.parametrize("announced", ["-5", "x", "9" * 5000, "1e3", "0x10"])
def test_a_nonsense_length_is_ignored(server, tmp_path, announced):
    server.headers = {"Content-Length": announced}
    server.sends_length = False
    assert download_file(f"{server.url}/S.zip", tmp_path / "S.zip", attempts=1) == SHA256


def test_more_than_the_most_is_neither_announced_nor_received(server, tmp_path):
    for sends_length in (True, False):
        server.sends_length = sends_length
        with pytest.raises(DataError, match="has more than 0 MB, the most that is downloaded"):
            download_file(f"{server.url}/S.zip", tmp_path / "S.zip", max_size=200_000)
        assert names(tmp_path) == []
    server.sends_length = True
    assert download_file(f"{server.url}/S.zip", tmp_path / "S.zip", max_size=300_000) == SHA256


def test_bytes_from_another_place_than_requested_are_not_appended(server, tmp_path):
    put_part(tmp_path, CONTENT[:100_000])
    server.headers = {"Content-Range": "bytes 5-299999/300000"}
    download_file(f"{server.url}/S.zip", tmp_path / "S.zip", sha256=SHA256, pause=0)
    assert server.ranges == ["bytes=100000-", None]


def test_a_redirect_to_another_scheme_is_not_followed(server, tmp_path):
    request = urllib.request.Request("https://host/S.zip")
    for target in ("http://host/S.zip", "ftp://host/S.zip"):
        with pytest.raises(DataError, match=r"redirects to .* not https; it is not followed"):
            _SameScheme().redirect_request(request, None, 302, "Found", {}, target)
    assert _SameScheme().redirect_request(request, None, 302, "", {}, "https://b/S.zip")
    server.redirect = "ftp://127.0.0.1/S.zip"
    with pytest.raises(DataError, match="redirects to"):
        download_file(f"{server.url}/S.zip", tmp_path / "S.zip")
    assert names(tmp_path) == []


def test_links_in_the_place_of_a_partial_download_are_not_followed(server, tmp_path):
    mine = tmp_path / "mine"
    mine.write_bytes(b"mine")
    place = tmp_path / "data"
    place.mkdir()
    (place / ".S.zip-link.part").symlink_to(tmp_path)
    (put_part(place, b"") / "content").unlink()
    (place / ".S.zip-earlier.part" / "content").symlink_to(mine)
    download_file(f"{server.url}/S.zip", place / "S.zip", sha256=SHA256, pause=0)
    assert mine.read_bytes() == b"mine"
    assert (place / "S.zip").read_bytes() == CONTENT


def test_two_downloads_at_a_time_do_not_share_bytes(server, tmp_path):
    server.cuts = [100_000]
    seen = []

    def second(received, total):
        # The first one has received some bytes, and its part is there to be found.
        if received > 50_000 and not seen:
            seen.append(download_file(f"{server.url}/S.zip", tmp_path / "S.zip", sha256=SHA256))

    with pytest.raises(DataError, match="cannot be downloaded"):
        download_file(f"{server.url}/S.zip", tmp_path / "S.zip", attempts=1, progress=second)
    assert seen == [SHA256]
    assert server.ranges == [None, None]
    assert (tmp_path / "S.zip").read_bytes() == CONTENT
    assert len(list(tmp_path.glob(".S.zip-*.part"))) == 1  # of the one that was cut


def test_a_download_that_cannot_be_read_is_named_by_its_address(server, tmp_path):
    def check(path):
        raise DataError("is no archive", source=path)

    url = f"{server.url}/S.zip"
    with pytest.raises(DataError) as caught:
        download_file(url, tmp_path / "S.zip", check=check)
    assert str(caught.value) == f"{url}: was received, but is no archive"
    assert names(tmp_path) == []
