"""Readers of files of graphs: TU folders and archives, JSON lines, SMILES, clouds, saved sets."""

import io
import json
import tarfile
import zipfile
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import torch

from lfds.data import GraphSet
from lfds.data.shards.sharded_set import ShardedGraphSet
from lfds.data.sources import read_any, stream_source
from lfds.data.validation import check_finite
from tests.attack.files import Files, mutate_files, spoil_folder, write_files
from tests.attack.mutations import mutate
from tests.attack.sanity import check_encoded, check_graphs, must_hold
from tests.attack.targets import Read, target
from tests.data.graphs import three_graphs
from tests.data.shards.small import in_parts
from tests.data.tu_folders import FILES

_NAMES = {"classes": ["no", "yes", "maybe"], "label_values": [[5, 7, 9]]}
TU = {**FILES, "S_graph_labels.txt": b"1\n0\n1\n", "S_names.json": json.dumps(_NAMES).encode()}
EVIL_MEMBERS = ("../S_A.txt", "/tmp/S_A.txt", "S_A.txt", "a/../../S_A.txt", "..\\S_A.txt", "x\0y")


def _read(path: Path) -> Read:
    def read() -> None:
        check_graphs(read_any(path))

    return read


@target("tu-folder")
def tu_folder(random: Random | None, folder: Path) -> Read:
    files = TU if random is None or random.random() < 0.5 else FILES
    write_files(mutate_files(files, random), folder / "S")
    spoil_folder(folder, random)
    return _read(folder / "S")


@target("tu-zip")
def tu_zip(random: Random | None, folder: Path) -> Read:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _members(random).items():
            archive.writestr(f"S/{name}" if name in TU else zipfile.ZipInfo(name), content)
    return _archive(buffer.getvalue(), random, folder / "S.zip")


@target("tu-tar")
def tu_tar(random: Random | None, folder: Path) -> Read:
    compression = "" if random is None else random.choice(("", "gz", "bz2", "xz"))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{compression}") as archive:
        for name, content in _members(random).items():
            entry = tarfile.TarInfo(f"S/{name}" if name in TU else name)
            entry.size = len(content)
            if random is not None and random.random() < 0.02:
                entry.type = random.choice((tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE))
                entry.linkname, entry.size = random.choice(("S/S_A.txt", "/etc/passwd", "..")), 0
            archive.addfile(entry, io.BytesIO(content))
    return _archive(buffer.getvalue(), random, folder / "S.tar")


def _members(random: Random | None) -> dict[str, bytes]:
    if random is None or random.random() < 0.5:
        return dict(FILES)
    members = mutate_files(TU, random)
    if random.random() < 0.2:
        members[random.choice(EVIL_MEMBERS)] = b"1, 2\n"
    return members


def _archive(content: bytes, random: Random | None, path: Path) -> Read:
    if random is not None and random.random() < 0.7:
        content = mutate(content, random)
    path.write_bytes(content)
    return _read(path)


_LINES = (
    {"nodes": 3, "edges": [[0, 1], [1, 2]], "features": [[1.0], [0.5], [2.0]], "label": "path"},
    {"nodes": 1, "edges": [], "features": [[0.25]], "label": "dot"},
    {"nodes": 2, "edges": [[1, 0]], "directed": True, "features": [[1.0], [2.0]], "label": "path"},
)
_MORE_LINES = (
    {"labels": [1, 2, 1], "edges": [[0, 1]], "edge_features": [[0.5, 1.0]], "label": 0.5},
    {"labels": [2, 2], "edges": [[0, 1], [1, 1]], "edge_features": [[1, 2], [3, 4]], "label": -2.0},
)


@target("jsonl")
def jsonl(random: Random | None, folder: Path) -> Read:
    lines = _LINES if random is None or random.random() < 0.5 else _MORE_LINES
    files = {"S.jsonl": "".join(json.dumps(line) + "\n" for line in lines).encode()}
    return _streamed(files, random, folder)


@target("smiles")
def smiles(random: Random | None, folder: Path) -> Read:
    rows = ("CCO,1", "c1ccccc1,0", "[NH4+].[Cl-],1", '"C(=O)O",0', "N#N,1")
    if random is not None and random.random() < 0.5:
        rows = ("CCO,0.5", "C/C=C/C,-1.25", "[13CH4],3e2", "F[P-](F)(F)(F)(F)F,7.")
    files = {"S.csv": ("smiles,target\n" + "\n".join(rows) + "\n").encode()}
    return _streamed(files, random, folder)


def _streamed(files: Files, random: Random | None, folder: Path) -> Read:
    """Read a file at once and in chunks, which must agree."""
    write_files(mutate_files(files, random), folder)
    path = folder / next(iter(files))

    def read() -> None:
        graphs = read_any(path)
        check_graphs(graphs)
        with must_hold("the same in chunks"):
            chunks = list(stream_source(str(path), size=2))
            assert sum(len(chunk.graphs) for chunk in chunks) == len(graphs)
            assert [n for c in chunks for n in c.graphs.sizes.tolist()] == graphs.sizes.tolist()

    return read


@target("clouds")
def clouds(random: Random | None, folder: Path) -> Read:
    files = dict(_clouds())
    if random is not None and random.random() < 0.3:
        files = {name.replace("ball", "0123"): content for name, content in files.items()}
        files["synsetoffset2category.txt"] = b"Ball\t0123\nDisc\tdisc\nCube\t77\n"
    write_files(mutate_files(files, random), folder / "S")
    spoil_folder(folder, random)
    return _read(folder / "S")


@cache
def _clouds() -> dict[str, bytes]:
    rng = np.random.default_rng(0)
    files = {}
    for kind in ("ball", "disc"):
        points = rng.normal(size=(155, 3))
        rows = "".join(f"{x:.4f} {y:.4f} {z:.4f}\n" for x, y, z in points.tolist())
        array = io.BytesIO()
        np.save(array, points.astype(np.float32))
        files |= {f"{kind}/a.xyz": rows.encode(), f"{kind}/c.npy": array.getvalue()}
    return files


@target("meshes")
def meshes(random: Random | None, folder: Path) -> Read:
    everything = _meshes()
    names = sorted(everything)
    # One mesh at a time: a mutated one is not hidden behind the error of another.
    chosen = names if random is None else [random.choice(names)]
    write_files(mutate_files({name: everything[name] for name in chosen}, random), folder / "S")
    return _read(folder / "S")


@cache
def _meshes() -> dict[str, bytes]:
    import trimesh

    box = trimesh.creation.box()
    files = {
        f"box/{kind}.{kind}": box.export(file_type=kind) for kind in ("ply", "off", "obj", "stl")
    }
    files["box/text.ply"] = box.export(file_type="ply", encoding="ascii")
    files["box/text.stl"] = box.export(file_type="stl_ascii")
    return {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}


@target("saved-set")
def saved_set(random: Random | None, folder: Path) -> Read:
    write_files(mutate_files(_saved(), random), folder / "S")
    spoil_folder(folder, random)

    def read() -> None:
        mapped = read_any(folder / "S")
        # Numbers of a mapped set are checked where they are used, and at once by the other way.
        check_encoded(mapped)
        graphs = GraphSet.load(folder / "S", mmap=False)
        check_graphs(graphs)
        with must_hold("the same when mapped"):
            assert mapped.equals(graphs)

    return read


@target("shards")
def shards(random: Random | None, folder: Path) -> Read:
    write_files(mutate_files(_sharded(), random), folder / "S")
    spoil_folder(folder, random)

    def read() -> None:
        graphs = ShardedGraphSet(folder / "S")
        numbers = list(range(len(graphs)))
        batch = graphs.batch(numbers[: len(numbers) // 2])  # as a training reads it
        check_encoded(graphs)
        everything = graphs.in_memory()
        check_finite(everything, source="shards")
        check_graphs(everything)
        with must_hold("the same in batches"):
            assert torch.equal(batch.y, everything.batch(numbers[: len(numbers) // 2]).y)

    return read


@cache
def _saved() -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        three_graphs().save(Path(folder) / "set")
        return _files_below(Path(folder))


@cache
def _sharded() -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        in_parts(three_graphs(), Path(folder) / "set", graphs_per_part=2)
        return _files_below(Path(folder))


def _files_below(folder: Path) -> dict[str, bytes]:
    files = (path for path in (folder / "set").rglob("*") if path.is_file())
    return {str(path.relative_to(folder / "set")): path.read_bytes() for path in sorted(files)}
