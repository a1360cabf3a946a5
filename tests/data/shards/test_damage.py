"""Shards that are missing, damaged, of other widths or versions: one line each."""

import json
import shutil
import struct

import numpy as np
import pytest
from tests.data.shards.small import in_parts, random_graphs

from lfds.config.messages import SpecError
from lfds.data.errors import DataError
from lfds.data.shards.folder import ShardFolder
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.data.storage import save


@pytest.fixture
def folder(tmp_path):
    return in_parts(random_graphs(20), tmp_path / "set").folder.path


def fails(folder, match):
    with pytest.raises((DataError, SpecError), match=match) as error:
        ShardedGraphSet(folder).batch(range(20))
    assert "\n" not in str(error.value)


def manifest(folder, **entries):
    path = folder / "shards.json"
    content = {**json.loads(path.read_text()), **entries}
    path.write_text(json.dumps(content))


def place_of(file, tensor):
    """Return the first and the last byte of a tensor in a file."""
    content = file.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    begin, end = json.loads(content[8 : 8 + length])[tensor]["data_offsets"]
    return 8 + length + begin, 8 + length + end


def overwrite(file, tensor, values):
    begin, _ = place_of(file, tensor)
    content = bytearray(file.read_bytes())
    raw = values.tobytes()
    content[begin : begin + len(raw)] = raw
    file.write_bytes(content)


def test_a_missing_part_is_named_when_the_set_is_opened(folder):
    shutil.rmtree(folder / "part-000001")
    with pytest.raises(DataError, match=r"part-000001/graphs.safetensors: is missing, and the"):
        ShardedGraphSet(folder)


def test_a_truncated_part_is_named_when_the_set_is_opened(folder):
    file = folder / "part-000001" / "graphs.safetensors"
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(DataError, match=r"part-000001.* bytes where .* changed or is truncated"):
        ShardedGraphSet(folder)


def test_a_manifest_that_is_no_text_is_named(folder):
    (folder / "shards.json").write_bytes(b'{"format": "\xa8"}')
    fails(folder, r"shards\.json: cannot be read as JSON")


def test_a_part_that_grows_shorter_after_the_set_was_opened(folder):
    opened = ShardedGraphSet(folder)
    (folder / "part-000000" / "graphs.safetensors").write_bytes(b"")
    with pytest.raises(DataError, match="0 bytes where"):
        opened.batch([0])


@pytest.mark.parametrize(
    ("tensor", "values", "match"),
    [
        ("ptr", np.array([0, 10**9]), "ptr leads out of the part"),
        ("ptr", np.array([0, -5]), "ptr leads out of the part"),
        ("ptr", np.array([-(2**62)]), "ptr leads out of the part"),
        ("edge_ptr", np.array([2**40]), "edge_ptr leads out of the part"),
        ("edge_dst", np.array([-1], dtype=np.int32), "an edge names a node that its graph has not"),
        ("edge_dst", np.array([99], dtype=np.int32), "an edge names a node that its graph has not"),
        ("y", np.array([7]), "y holds a class that it has not"),
        ("y", np.array([-1]), "y holds a class that it has not"),
    ],
)
def test_damaged_numbers_never_lead_out_of_a_part(folder, tensor, values, match):
    overwrite(folder / "part-000001" / "graphs.safetensors", tensor, values)
    fails(folder, rf"part-000001.*is damaged: {match}; copy or convert it again")


def test_row_pointers_that_decrease_inside_a_graph(folder):
    file = folder / "part-000000" / "graphs.safetensors"
    opened = ShardedGraphSet(folder)
    graph = int((opened.sizes > 2).nonzero()[0])
    first = int(opened.ptr[graph])
    begin, _ = place_of(file, "edge_ptr")
    content = bytearray(file.read_bytes())
    content[begin + 8 * (first + 1) : begin + 8 * (first + 2)] = np.array([2**40]).tobytes()
    file.write_bytes(content)
    fails(folder, "is damaged")


def test_every_flipped_bit_is_found_by_the_checksum(folder):
    shards = ShardFolder(folder)
    for part in shards.manifest.parts:
        shards.verify(part)
    file = folder / "part-000002" / "graphs.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(DataError, match=r"part-000002.*its checksum differs"):
        shards.verify(shards.manifest.parts[2])


def test_a_part_of_other_widths(folder):
    part = folder / "part-000001"
    shutil.rmtree(part)
    save(random_graphs(7, attributes=5), part)
    entries = json.loads((folder / "shards.json").read_text())["parts"]
    entries[1]["size"] = (part / "graphs.safetensors").stat().st_size
    manifest(folder, parts=entries)
    fails(folder, r"part-000001.*needs .* as the manifest says, not")


@pytest.mark.parametrize("content", [b"", b"\xff" * 8, b"\x10" + b"\0" * 7 + b"{}" * 8])
def test_a_part_that_is_no_safetensors_file(folder, content):
    file = folder / "part-000000" / "graphs.safetensors"
    file.write_bytes(content)
    entries = json.loads((folder / "shards.json").read_text())["parts"]
    entries[0]["size"] = len(content)
    manifest(folder, parts=entries)
    fails(folder, "is empty|cannot be read as safetensors|lacks ptr")


@pytest.mark.parametrize(
    ("entries", "match"),
    [
        ({"schema_version": 99}, "schema_version is 99, and this lfds reads up to"),
        ({"format": "another"}, 'is not a manifest: it needs "format"'),
        ({"parts": [{"name": "../else"}]}, "parts.0.name"),
        ({"surprise": 1}, "surprise: Extra inputs are not permitted"),
        ({"widths": {}}, "widths lacks x"),
        ({"classes": ["a", "a"]}, "two are equal"),
        ({"classes": ["a"]}, "has a class that the set has not"),
        ({"classes": []}, "has a class that the set has not"),
        ({"label_values": [[5, 2, 9]]}, "increasing whole numbers for column 0"),
        ({"label_values": [[2, 5], [1], [1]]}, "one list per column of labels"),
    ],
)
def test_a_manifest_that_cannot_be_used(folder, entries, match):
    manifest(folder, **entries)
    fails(folder, match)


def test_a_manifest_that_lists_a_part_twice(folder):
    entries = json.loads((folder / "shards.json").read_text())["parts"]
    manifest(folder, parts=[entries[0], entries[0]])
    fails(folder, "lists a part twice")


@pytest.mark.parametrize("text", ["", "{", '{"format": 1, "format": 2}', "[" * 100_000])
def test_a_manifest_that_is_no_json(folder, text):
    (folder / "shards.json").write_text(text)
    fails(folder, "shards.json")
