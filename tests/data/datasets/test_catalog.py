import subprocess
import sys
from pathlib import Path

import pytest

from lfds.data.datasets.catalog import (
    BUILT_IN,
    TU_DATASETS,
    find_files,
    not_found,
    prepared_at,
    where_to_put,
)


def test_names_are_unique_ignoring_case():
    names = [name.lower() for name in (*TU_DATASETS, *BUILT_IN)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("end", ["", ".zip", ".tar", ".tar.gz", ".tgz", ".jsonl", ".csv"])
def test_files_are_found_in_every_format(end, tmp_path):
    assert find_files("S", tmp_path) is None
    (tmp_path / f"S{end}").touch()
    assert find_files("S", tmp_path) == tmp_path / f"S{end}"


def test_where_to_put_a_file_is_one_line():
    line = where_to_put("DD", Path("data"))
    assert "/DD.zip at data/DD.zip" in line
    assert "DD_A.txt" in line
    assert len(line.splitlines()) == 1


def test_the_error_for_an_unknown_name_suggests_the_closest_one():
    assert "did you mean 'ENZYMES'?" in str(not_found("enzyme", Path("data")))
    assert "did you mean" not in str(not_found("qqqqq", Path("data")))
    assert "--download --root data" in str(not_found("ENZYMES", Path("data")))


def test_prepared_sets_have_their_own_folder():
    assert prepared_at("DD", Path("data")) == Path("data/DD.graphs")


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name.startswith("parts-")])
def test_built_in_datasets_have_the_listed_size(name):
    made = BUILT_IN[name].make(0)
    assert (made.name, len(made), made.num_classes) == (
        name,
        BUILT_IN[name].graphs,
        BUILT_IN[name].classes,
    )
    assert (BUILT_IN[name].folds is not None) == name.endswith("-larger")


def test_the_catalog_does_not_import_torch():
    code = "import sys, lfds.data.datasets.catalog; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
