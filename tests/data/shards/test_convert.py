import json

import numpy as np
import pytest
from tests.data.shards.small import in_parts, random_graphs

from lfds.data.errors import DataError
from lfds.data.node_order import NodeOrder, node_permutation
from lfds.data.shards.convert import convert
from lfds.data.sources import read_any
from lfds.data.storage import content_of


def write_jsonl(path, count, *, seed=0, label=lambda rng: "abc"[rng.integers(3)]):
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(count):
        nodes = int(rng.integers(1, 9))
        edges = rng.integers(0, nodes, (int(rng.integers(0, 9)), 2)).tolist()
        line = {
            "nodes": nodes,
            "edges": edges,
            "labels": rng.integers(0, 5, nodes).tolist(),
            "features": rng.normal(size=(nodes, 2)).round(3).tolist(),
            "edge_features": [[float(k)] for k in range(len(edges))],
        }
        if label is not None:
            line["label"] = label(rng)
        lines.append(json.dumps(line) + ("\n\n" if number % 4 == 0 else "\n"))
    path.write_text("".join(lines))
    return path


def write_tu(folder, count=23):
    # Edge features of the small graphs would be directed; labels keep their values.
    random_graphs(count).to_tu(folder)
    return folder


def write_smiles(path, rows):
    path.write_text("smiles,y,z\n" + "".join(f"{row}\n" for row in rows))
    return path


def assert_converted(source, out, **options):
    """Check that a conversion has exactly what the reader reads at once."""
    expected = read_any(source, **options)
    found = convert(str(source), out, graphs_per_part=5, **options)
    assert len(found.folder.manifest.parts) == -(-len(expected) // 5)
    assert content_of(found) == content_of(expected)
    assert found.in_memory().equals(expected)
    counts = {key: value for key, value in expected.provenance.items() if key != "sha256"}
    assert {key: found.provenance[key] for key in counts} == counts
    return found


@pytest.mark.parametrize(
    "label",
    [
        lambda rng: "abc"[rng.integers(3)],
        lambda rng: int(rng.integers(-2, 7)),
        lambda rng: float(rng.normal()),
        lambda rng: [float(rng.normal()), float(rng.normal())],
        None,
    ],
)
def test_json_lines_are_converted_to_what_is_read_at_once(tmp_path, label):
    assert_converted(write_jsonl(tmp_path / "d.jsonl", 23, label=label), tmp_path / "out")


@pytest.mark.parametrize("block", [3, 1 << 16])
def test_tu_files_are_converted_to_what_is_read_at_once(tmp_path, monkeypatch, block):
    monkeypatch.setattr("lfds.data.readers.tu_stream._LINES_AT_A_TIME", block)
    assert_converted(write_tu(tmp_path / "tu"), tmp_path / "out")


def test_tu_files_with_numbers_for_targets(tmp_path):
    graphs = random_graphs(12, labels=0, edge_attributes=0)
    graphs.with_targets(graphs.y.float() + 0.5, ()).to_tu(tmp_path / "tu")
    assert_converted(tmp_path / "tu", tmp_path / "out")


MOLECULES = ["CCO", "c1ccccc1", "CC(=O)O", "C", "CCN", "C1CC1", "CCS", "CCCl", "N#N", "CS"]


@pytest.mark.parametrize(
    ("cells", "target", "task"),
    [
        (lambda k: f"{k % 3},{k}", "y", "auto"),
        (lambda k: f"{k * 0.5},{k}", "y", "auto"),
        (lambda k: f"{k % 3},{k}", "y", "regression"),
        (lambda k: f"{'ab'[k % 2]},{k}", "y", "auto"),
        (lambda k: f"{k % 2},{'' if k % 3 else (k // 3) % 2}", ["y", "z"], "auto"),
        (lambda k: f"{k * 1.5},{'NA' if k % 3 else k}", ["y", "z"], "auto"),
        (lambda k: f"{k},{0 if k < 7 else 1}.0", "z", "auto"),
    ],
)
def test_molecules_are_converted_to_what_is_read_at_once(tmp_path, cells, target, task):
    pytest.importorskip("rdkit")
    rows = [f"{MOLECULES[k % 10]},{cells(k)}" for k in range(10)]
    file = write_smiles(tmp_path / "m.csv", rows)
    assert_converted(file, tmp_path / "out", target=target, task=task)


def test_bad_rows_of_molecules_are_skipped_and_counted(tmp_path):
    pytest.importorskip("rdkit")
    rows = [f"{smiles},{k % 2}.5,1" for k, smiles in enumerate(MOLECULES)]
    rows[3] = "not a molecule,1.5,1"
    rows[6] = "CC,NA,1"
    file = write_smiles(tmp_path / "m.csv", rows)
    with pytest.warns(UserWarning, match="skipped 2 rows"):
        expected = read_any(file, target="y", bad="skip")
    found = convert(str(file), tmp_path / "out", graphs_per_part=3, target="y", bad="skip")
    assert content_of(found) == content_of(expected)
    assert found.provenance["bad_smiles_skipped"] == 1
    assert found.provenance["without_target_skipped"] == 1
    with pytest.raises(DataError, match="line 5: invalid SMILES"):
        convert(str(file), tmp_path / "other", target="y")


def test_groups_of_molecules_are_the_same_groups(tmp_path):
    pytest.importorskip("rdkit")
    rows = [f"{smiles},{k % 2},{'pqr'[k % 3]}" for k, smiles in enumerate(MOLECULES)]
    file = write_smiles(tmp_path / "m.csv", rows)
    for group in ("z", "scaffold"):
        found = convert(str(file), tmp_path / group, graphs_per_part=3, target="y", group=group)
        expected = read_any(file, target="y", group=group)
        pairs = set(zip(found.groups[:, 0].tolist(), expected.groups[:, 0].tolist(), strict=True))
        assert len(pairs) == len(expected.groups.unique())
        assert len(found.groups.unique()) == len(pairs)


def test_a_saved_set_and_a_sharded_one_are_converted(tmp_path):
    graphs = random_graphs(12)
    graphs.save(tmp_path / "saved")
    in_parts(graphs, tmp_path / "sharded")
    for name in ("saved", "sharded"):
        found = convert(str(tmp_path / name), tmp_path / f"{name}-out", graphs_per_part=4)
        assert found.in_memory().equals(graphs)


class StopError(Exception):
    pass


def test_an_interrupted_conversion_goes_on_and_ends_in_the_same_bits(tmp_path, monkeypatch):
    pytest.importorskip("rdkit")
    rows = [f"{smiles},{k % 2},1" for k, smiles in enumerate(MOLECULES)]
    sources = {
        "jsonl": (write_jsonl(tmp_path / "d.jsonl", 23), {}),
        "tu": (write_tu(tmp_path / "tu"), {}),
        "smiles": (write_smiles(tmp_path / "m.csv", rows), {"target": "y"}),
    }
    for name, (source, options) in sources.items():
        whole = convert(str(source), tmp_path / f"{name}-whole", graphs_per_part=4, **options)
        done = []

        def stop(count, done=done):
            done.append(count)
            if len(done) == 2:
                raise StopError

        how = {"graphs_per_part": 4, **options}
        out = tmp_path / f"{name}-out"
        with pytest.raises(StopError):
            convert(str(source), out, progress=stop, **how)
        rest = []
        found = convert(str(source), out, progress=rest.append, **how)
        assert sum(rest) == len(whole) - 8
        assert found.folder.manifest == whole.folder.manifest


def test_appending_a_second_file(tmp_path):
    one, two = (write_jsonl(tmp_path / f"{k}.jsonl", 9, seed=k) for k in (0, 1))
    convert(str(one), tmp_path / "out", graphs_per_part=4)
    found = convert(str(two), tmp_path / "out", graphs_per_part=4, append=True)
    assert len(found) == 18
    expected = [read_any(file) for file in (one, two)]
    assert found.sizes.tolist() == [size for graphs in expected for size in graphs.sizes.tolist()]


def test_nodes_drawn_in_pieces_have_the_order_of_the_whole():
    ptr = np.concatenate([[0], np.random.default_rng(0).integers(0, 7, 50).cumsum()])
    whole, _ = node_permutation(ptr, 3, "name")
    for cut in (0, 1, 17, 50):
        order = NodeOrder(3, "name")
        first, _ = order.permutation(ptr[: cut + 1])
        second, _ = order.permutation(ptr[cut:] - ptr[cut])
        assert np.concatenate([first, second + ptr[cut]]).tolist() == whole.tolist()
        rest, _ = NodeOrder(3, "name", skip=int(ptr[cut])).permutation(ptr[cut:] - ptr[cut])
        assert rest.tolist() == second.tolist()


@pytest.mark.parametrize(
    ("part", "line", "text", "match"),
    [
        ("A", 1, "9999, 9999", "longer than needed|not among those of its graph"),
        ("A", 3, "x, 1", "A.txt, line 3: needs"),
        ("graph_indicator", 2, "99", "line|goes back|longer"),
        ("node_labels", -1, None, "truncated"),
        ("edge_labels", -1, None, "truncated"),
        ("node_attributes", -1, "1.0,2.0,3.0\n1.0,2.0,3.0", "longer than needed"),
    ],
)
def test_tu_files_that_do_not_fit_together(tmp_path, part, line, text, match):
    folder = write_tu(tmp_path / "tu")
    file = folder / f"graphs_{part}.txt"
    lines = file.read_text().splitlines()
    if line == -1:
        lines = lines[:-1] if text is None else [*lines[:-1], lines[-1], text.split("\n")[0]]
    else:
        lines[line - 1] = text
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=match) as error:
        convert(str(folder), tmp_path / "out", graphs_per_part=5)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out" / "shards.json").exists()


def test_tu_edges_that_are_not_sorted_by_graph_are_refused(tmp_path):
    folder = write_tu(tmp_path / "tu")
    for part in ("A", "edge_labels", "edge_attributes"):
        file = folder / f"graphs_{part}.txt"
        file.write_text("\n".join(reversed(file.read_text().splitlines())) + "\n")
    assert len(read_any(folder)) == 23
    with pytest.raises(DataError, match=r"A.txt, line \d+: .* sorted by graph|longer than needed"):
        convert(str(folder), tmp_path / "out", graphs_per_part=5)


def test_a_source_is_not_written_into(tmp_path):
    sharded = in_parts(random_graphs(12), tmp_path / "set")
    with pytest.raises(DataError, match=r"is the source itself|holds a sharded set"):
        convert(str(tmp_path / "set"), tmp_path / "set")
    assert len(sharded.batch(range(12))) == 12


@pytest.mark.parametrize("name", ["empty.jsonl", "empty.csv"])
def test_a_file_without_graphs(tmp_path, name):
    (tmp_path / name).write_text("smiles\n" if name.endswith("csv") else "\n")
    with pytest.raises(DataError, match=r"is empty|has no molecules"):
        convert(str(tmp_path / name), tmp_path / "out")
