"""Folds of molecules in which scaffolds, or the cells of a column, stay together."""

import numpy as np
import pytest

from lfds.compare.datasets import load_datasets
from lfds.compare.given_splits import find_splits
from lfds.config.comparison import make_spec
from lfds.config.messages import SpecError
from lfds.data.splits import check_splits

pytest.importorskip("rdkit")


def write(folder):
    rings = [f"C1{'C' * (k % 6 + 1)}C1" for k in range(24)]
    rows = [f"{'C' * (k // 6)}O{ring},{k % 2},{k // 2}" for k, ring in enumerate(rings)]
    path = folder / "m.csv"
    path.write_text("smiles,y,lab\n" + "\n".join(rows) + "\n")
    return path


def spec_for(folder, **options):
    lines = write(folder).read_text().splitlines()
    if "group_column" not in options:  # one column to predict is left
        (folder / "m.csv").write_text("\n".join(line.rsplit(",", 1)[0] for line in lines) + "\n")
    return make_spec({"data": [str(folder / "m.csv")], "folds": 3, **options})


def test_scaffolds_stay_together(tmp_path):
    spec = spec_for(tmp_path, splits="scaffold")
    (graphs,) = load_datasets(spec, tmp_path)
    splits = find_splits(spec, [graphs])["m"].splits
    check_splits(splits, 24, source="folds")
    scaffold_of = graphs.groups[:, 0].numpy()
    assert len(np.unique(scaffold_of)) == 6
    for split in splits:
        parts = [set(scaffold_of[list(part)]) for part in (split.train, split.validation)]
        assert not set(scaffold_of[list(split.test)]) & (parts[0] | parts[1])
        assert not parts[0] & parts[1]


def test_random_splits_are_the_default(tmp_path):
    spec = spec_for(tmp_path, splits="random")
    assert find_splits(spec, load_datasets(spec, tmp_path)) == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"splits": "scaffold", "folds": 9}, "folds: m needs 2 to 6, the number of groups, not 9"),
        ({"splits": ["scaffold", "random"]}, "'scaffold' and 'random' stand alone"),
        ({"splits": "scaffold", "group_column": "y"}, "splits: excludes group_column=y"),
        ({"splits": "scaffold", "graphs": 5}, "splits: needs all graphs of a dataset; .* graphs=5"),
    ],
)
def test_what_does_not_go_together_is_named(options, message, tmp_path):
    def splits():
        spec = spec_for(tmp_path, **options)
        return find_splits(spec, load_datasets(spec, tmp_path))

    with pytest.raises(SpecError, match=message):
        splits()


def test_other_formats_have_no_groups(tmp_path):
    (tmp_path / "g.jsonl").write_text('{"nodes": 1, "label": "a"}\n{"nodes": 1, "label": "b"}\n')
    data = {"data": [str(tmp_path / "g.jsonl")], "folds": 2}
    with pytest.raises(SpecError, match=r"^splits: only \.csv or \.tsv files have this option"):
        load_datasets(make_spec({**data, "splits": "scaffold"}), tmp_path)
    with pytest.raises(
        SpecError, match=r"^group_column: only \.csv or \.tsv files have this option"
    ):
        load_datasets(make_spec({**data, "group_column": "lab"}), tmp_path)
